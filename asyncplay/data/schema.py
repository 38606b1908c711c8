"""The tables of run.sqlite; docs/schema.md says what each column means."""

SCHEMA_VERSION = 1
"""In PRAGMA user_version and in the table meta. Raised with every change that an older reader cannot handle."""

APPLICATION_ID = 0x61706C79
"""In PRAGMA application_id: "aply"."""

STATEMENTS = {
    "meta": """CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID""",
    "games": """CREATE TABLE games (
    number INTEGER PRIMARY KEY,
    unit INTEGER NOT NULL UNIQUE,
    time REAL NOT NULL,
    worker INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    seats INTEGER NOT NULL,
    length INTEGER NOT NULL,
    reason TEXT NOT NULL,
    returns TEXT NOT NULL,
    outcome TEXT NOT NULL,
    lowest_version INTEGER,
    highest_version INTEGER,
    first_row INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    record BLOB NOT NULL,
    crc INTEGER NOT NULL
)""",
    "games_by_row": "CREATE INDEX games_by_row ON games (first_row)",
    "versions": """CREATE TABLE versions (
    version INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    step INTEGER NOT NULL,
    games INTEGER NOT NULL
)""",
    "events": """CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    data TEXT NOT NULL
)""",
    "metrics": """CREATE TABLE metrics (
    name TEXT NOT NULL,
    time REAL NOT NULL,
    value REAL,
    PRIMARY KEY (name, time)
) WITHOUT ROWID""",
}
"""By name; SQLite stores them word for word."""

KNOWN_UNITS = "SELECT unit FROM games WHERE unit IN (SELECT value FROM json_each(?))"
GAME_COLUMNS = (
    "number, unit, time, worker, seed, seats, length, reason, returns, outcome, "
    "lowest_version, highest_version, first_row, rows, record, crc"
)
INSERT_GAME = f"INSERT INTO games ({GAME_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_VERSION = "INSERT OR REPLACE INTO versions (version, time, step, games) VALUES (?, ?, ?, ?)"
INSERT_EVENT = "INSERT INTO events (time, kind, text, data) VALUES (?, ?, ?, ?)"
INSERT_METRIC = "INSERT OR REPLACE INTO metrics (name, time, value) VALUES (?, ?, ?)"
