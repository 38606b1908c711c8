// OpenSpiel's ISMCTSBot on positions of ours: a game whose rules are C functions that come from outside.
//
// Python games of OpenSpiel cannot be resampled from C++, which this bot does before every simulation; and its own
// oh_hell has other rules and deals only the cards again that the opponents really hold.

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "open_spiel/algorithms/is_mcts.h"
#include "open_spiel/algorithms/mcts.h"
#include "open_spiel/spiel.h"

namespace {

using open_spiel::Action;
using open_spiel::GameType;
using open_spiel::Player;

using Words = std::vector<int64_t>;
constexpr int kStreamWords = 4;

}  // namespace

// As worker/foreign.py lays it out.
struct Rules {
  int64_t players, actions, state_words, max_legal, max_decisions;
  double scale, offset;  // a return times scale plus offset is within -1 .. 1
  const int64_t* options;
  int64_t (*to_move)(const int64_t*, const int64_t*);
  int64_t (*legal)(const int64_t*, const int64_t*, int32_t*);
  void (*play)(const int64_t*, int64_t*, int64_t);
  void (*returns)(const int64_t*, const int64_t*, double*);
  uint64_t (*key)(const int64_t*, const int64_t*, int64_t);
  void (*determinize)(const int64_t*, const int64_t*, int64_t, uint64_t*, int64_t*);
};

namespace {

// A position, and what was played since the search began. Chance and the end of the game both end the search.
class Position : public open_spiel::State {
 public:
  Position(std::shared_ptr<const open_spiel::Game> game, const Rules* rules, Words words)
      : State(game), rules_(rules), words_(std::move(words)), before_(Gains()) {}

  Player CurrentPlayer() const override {
    int64_t seat = rules_->to_move(rules_->options, words_.data());
    return seat >= 0 ? static_cast<Player>(seat) : open_spiel::kTerminalPlayerId;
  }

  std::vector<Action> LegalActions() const override {
    if (IsTerminal()) return {};
    std::vector<int32_t> actions(rules_->max_legal);
    actions.resize(rules_->legal(rules_->options, words_.data(), actions.data()));
    return {actions.begin(), actions.end()};
  }

  bool IsTerminal() const override { return CurrentPlayer() == open_spiel::kTerminalPlayerId; }

  // What the search has won, within -1 .. 1.
  std::vector<double> Returns() const override {
    std::vector<double> gains = Gains();
    for (size_t seat = 0; seat < gains.size(); ++seat) {
      gains[seat] = (gains[seat] - before_[seat]) * rules_->scale + rules_->offset;
    }
    return gains;
  }

  // What the player sees, and every decision since the search began: all of them are public.
  std::string InformationStateString(Player player) const override {
    return std::to_string(rules_->key(rules_->options, words_.data(), player)) + " " + HistoryString();
  }

  std::unique_ptr<State> Clone() const override { return std::make_unique<Position>(*this); }

  std::unique_ptr<State> ResampleFromInfostate(int player, std::function<double()> random) const override {
    std::mt19937_64 source(static_cast<uint64_t>(random() * 9007199254740992.0));
    uint64_t stream[kStreamWords];
    for (uint64_t& word : stream) word = source();
    auto world = std::make_unique<Position>(*this);
    rules_->determinize(rules_->options, words_.data(), player, stream, world->words_.data());
    return world;
  }

  std::string ActionToString(Player player, Action action) const override { return std::to_string(action); }
  std::string ToString() const override { return HistoryString(); }

 protected:
  void DoApplyAction(Action action) override { rules_->play(rules_->options, words_.data(), action); }

 private:
  std::vector<double> Gains() const {
    std::vector<double> gains(rules_->players);
    rules_->returns(rules_->options, words_.data(), gains.data());
    return gains;
  }

  const Rules* rules_;
  Words words_;
  std::vector<double> before_;  // by seat, when the search began
};

// Begins wherever a search does.
class Given : public open_spiel::Game {
 public:
  Given(const Rules* rules, Words words) : Game(Type(), {}), rules_(rules), words_(std::move(words)) {}

  std::unique_ptr<open_spiel::State> NewInitialState() const override {
    return std::make_unique<Position>(shared_from_this(), rules_, words_);
  }
  int NumDistinctActions() const override { return rules_->actions; }
  int NumPlayers() const override { return rules_->players; }
  double MinUtility() const override { return -1; }
  double MaxUtility() const override { return 1; }
  int MaxGameLength() const override { return rules_->max_decisions; }

 private:
  static GameType Type() {
    GameType type;
    type.short_name = type.long_name = "asyncplay";
    type.dynamics = GameType::Dynamics::kSequential;
    type.chance_mode = GameType::ChanceMode::kDeterministic;
    type.information = GameType::Information::kImperfectInformation;
    type.utility = GameType::Utility::kGeneralSum;
    type.reward_model = GameType::RewardModel::kTerminal;
    type.provides_information_state_string = true;
    return type;
  }

  const Rules* rules_;
  Words words_;
};

}  // namespace

// The most visited action of so many simulations, each in a world of its own and ended by one random playout.
extern "C" int64_t decide(const Rules* rules, const int64_t* state, int64_t simulations, double exploration,
                          int64_t seed) {
  namespace algorithms = open_spiel::algorithms;
  auto game = std::make_shared<Given>(rules, Words(state, state + rules->state_words));
  auto playouts = std::make_shared<algorithms::RandomRolloutEvaluator>(1, static_cast<int>(seed));
  algorithms::ISMCTSBot bot(static_cast<int>(seed), playouts, exploration, static_cast<int>(simulations),
                            algorithms::kUnlimitedNumWorldSamples, algorithms::ISMCTSFinalPolicyType::kMaxVisitCount,
                            /*use_observation_string=*/false, /*allow_inconsistent_action_sets=*/false);
  return bot.Step(*game->NewInitialState());
}
