"""`dumbbell status`."""

from __future__ import annotations

from dumbbell.cli.options import Json, StudyArgument


def command(
    study: StudyArgument,
    json: Json = False,
) -> int:
    """Show the progress of a study: runs, failures and their reasons, expectations, and when it will be done.

    Exit code: 0, or that of `dumbbell run` if the study is complete, or was complete and lacks results now (1).
    """
    from dumbbell.studies.directory import COMPLETE, INCOMPLETE, find
    from dumbbell.studies.outcome import exit_code
    from dumbbell.studies.results import Study
    from dumbbell.studies.status import status

    found = Study(find(study))
    told = status(found)
    if json:
        from dataclasses import asdict
        from json import dumps

        ends_at = None if told.ends_at is None else told.ends_at.isoformat(timespec="seconds")
        judged = {key: found.manifest.get(key, []) for key in ("too_wide", "expectations")}
        print(dumps({**asdict(told), "ends_at": ends_at, **judged}, indent=2))
    else:
        from dumbbell.cli.study import print_status

        print_status(found, told)
    return exit_code(found) if told.status in (COMPLETE, INCOMPLETE) else 0
