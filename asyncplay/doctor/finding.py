"""The result of one check, and all results as text or JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

Grade = Literal["fine", "slow", "broken"]
Figure = float | int | str | bool | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. ``broken`` means that a run would end or could not start; a finding that is not fine has a cure."""

    name: str
    grade: Grade
    words: str
    cure: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert (self.grade == "fine") == (not self.cure), "a finding has a cure unless all is well"


def is_broken(findings: Sequence[Finding]) -> bool:
    return any(finding.grade == "broken" for finding in findings)


def as_json(findings: Sequence[Finding]) -> str:
    return json.dumps({"broken": is_broken(findings), "findings": [asdict(finding) for finding in findings]})


def as_text(findings: Sequence[Finding]) -> str:
    """A line for each finding, and its cure below it."""
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{finding.grade:6}  {finding.name.ljust(width)}  {finding.words}")
        if finding.cure:
            lines.append(f"{'':6}  {'':{width}}  cure: {finding.cure}")
    return "\n".join(lines)
