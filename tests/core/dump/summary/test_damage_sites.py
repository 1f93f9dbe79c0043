"""Damaged byte ranges of files, counted and listed."""

from kraftops.dump.summary.damage_sites import DamageSite, DamageSites


def test_only_the_first_damage_sites_are_reported() -> None:
    ours, later = DamageSites(), DamageSites()
    for number in range(15):
        ours.add(DamageSite("a", number, 2, "bad"))
        later.add(DamageSite("b", number, 3, "bad"))
    ours.merge(later)

    found = ours.as_dict()

    assert (found["count"], found["bytes"], len(found["first"])) == (30, 75, 20)
    assert found["first"][0] == {"file": "a", "position": 0, "bytes": 2, "reason": "bad"}
    assert found["first"][-1]["file"] == "b"
