//! Programs of regular expressions (`kraftops.query.conditions.regex`), run in linear time.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

enum Step {
    /// One character: a bit for each of ASCII, and first and last of all ranges in order.
    Class(u128, Vec<(u32, u32)>),
    Split(usize, usize),
    Begin,
    End,
    Match,
}

pub struct Program {
    steps: Vec<Step>,
}

type Described = (u8, usize, usize, Vec<(u32, u32)>);

/// The states that a text has led to.
struct States {
    kept: Vec<usize>,
    /// The round in which a state was reached last.
    seen: Vec<usize>,
    round: usize,
    has_match: bool,
    left: Vec<usize>,
}

impl Program {
    pub fn compile(described: Vec<Described>) -> PyResult<Program> {
        Program::of(described).ok_or_else(|| PyValueError::new_err("no program"))
    }

    fn of(described: Vec<Described>) -> Option<Program> {
        let size = described.len();
        let step = |(op, one, other, ranges): Described| match op {
            0 => Some(Step::Class(ascii_of(&ranges), ranges)),
            1 if one < size && other < size => Some(Step::Split(one, other)),
            2 => Some(Step::Begin),
            3 => Some(Step::End),
            4 => Some(Step::Match),
            _ => None,
        };
        let steps: Option<Vec<Step>> = described.into_iter().map(step).collect();
        let steps = steps.filter(|steps| matches!(steps.last(), Some(Step::Match)))?;
        Some(Program { steps })
    }

    /// Tell whether the pattern is found anywhere in a text.
    pub fn is_found(&self, text: &[u8]) -> bool {
        let text = String::from_utf8_lossy(text);
        let (mut now, mut next) = (self.states(), self.states());
        self.reach(&mut now, 0, true, false);
        for character in text.chars() {
            if now.has_match {
                return true;
            }
            next.clear();
            for state in &now.kept {
                if let Some(Step::Class(ascii, ranges)) = self.steps.get(*state) {
                    if has(*ascii, ranges, character as u32) {
                        self.reach(&mut next, state + 1, false, false);
                    }
                }
            }
            self.reach(&mut next, 0, false, false);
            std::mem::swap(&mut now, &mut next);
            if now.kept.is_empty() && !now.has_match {
                return false;
            }
        }
        next.clear();
        for state in &now.kept {
            self.reach(&mut next, *state, text.is_empty(), true);
        }
        now.has_match || next.has_match
    }

    fn states(&self) -> States {
        States {
            kept: Vec::new(),
            seen: vec![0; self.steps.len()],
            round: 1,
            has_match: false,
            left: Vec::new(),
        }
    }

    /// Add the states that are reached from one without a character.
    fn reach(&self, states: &mut States, from: usize, at_begin: bool, at_end: bool) {
        states.left.push(from);
        while let Some(state) = states.left.pop() {
            let Some(step) = self.steps.get(state) else {
                continue;
            };
            if states.seen[state] == states.round {
                continue;
            }
            states.seen[state] = states.round;
            match step {
                Step::Class(..) => states.kept.push(state),
                Step::Match => states.has_match = true,
                Step::Split(one, other) => states.left.extend([*one, *other]),
                Step::Begin if at_begin => states.left.push(state + 1),
                Step::End if at_end => states.left.push(state + 1),
                Step::End => states.kept.push(state),
                Step::Begin => {}
            }
        }
    }
}

impl States {
    fn clear(&mut self) {
        self.kept.clear();
        self.round += 1;
        self.has_match = false;
    }
}

fn ascii_of(ranges: &[(u32, u32)]) -> u128 {
    let mut bits = 0;
    for (first, last) in ranges {
        for code in *first..=(*last).min(127) {
            bits |= 1 << code;
        }
    }
    bits
}

fn has(ascii: u128, ranges: &[(u32, u32)], code: u32) -> bool {
    if code < 128 {
        return ascii >> code & 1 != 0;
    }
    let place = ranges.partition_point(|(_, last)| *last < code);
    ranges.get(place).is_some_and(|(first, _)| *first <= code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_find_what_they_stand_for() {
        let class = |text: &str| {
            let ranges = text
                .chars()
                .map(|code| (code as u32, code as u32))
                .collect();
            (0, 0, 0, ranges)
        };
        // ^(a|é)+$
        let steps = vec![
            (2, 0, 0, vec![]),
            class("aé"),
            (1, 1, 3, vec![]),
            (3, 0, 0, vec![]),
            (4, 0, 0, vec![]),
        ];
        let program = Program::of(steps).expect("a program");

        for (text, expected) in [("a", true), ("éaé", true), ("", false), ("ab", false)] {
            assert_eq!(program.is_found(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn targets_behind_the_program_are_refused() {
        assert!(Program::of(vec![(1, 7, 0, vec![]), (4, 0, 0, vec![])]).is_none());
    }
}
