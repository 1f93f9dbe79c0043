//! Conditions on rows (`kraftops.query.conditions`), and their outcomes with what is known of a row.
//!
//! A set of possible outcomes is a sum of bits. Null behaves as in SQL. Two sets are kept: the outcomes
//! of any record, and above `READABLE` those of a record that turns out to be readable.
use super::regex::Program;
use super::value::Operand;
use crate::row::Column;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::borrow::Cow;
use std::cmp::Ordering;

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const NULL: u8 = 4;
const ANY: u8 = TRUE | FALSE | NULL;
const READABLE: u32 = 3;

/// The outcome of a condition as far as it is known.
#[derive(Clone, Copy)]
pub enum Verdict {
    Never,
    /// True or not, if the record turns out to be readable.
    IfReadable(bool),
    Open,
}

/// A column, and the names and indexes after it.
pub struct Path {
    pub column: Column,
    pub rest: Vec<Vec<u8>>,
}

/// The candidates for the value at a path.
pub enum Known<'a> {
    Any,
    One(Operand<'a>),
    /// The value, or null if the record turns out to be unreadable.
    OrNull(Operand<'a>),
    /// The value, or null, which rows show instead of some defaults.
    Perhaps(Operand<'a>),
}

/// All that is known of a row.
pub trait Source {
    fn find(&self, path: &Path) -> Known<'_>;
}

pub enum Term {
    Path(Path),
    Length(Path),
    Literal(Operand<'static>),
}

pub enum Condition {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
    IsNull(Term),
    Matches(Term, Program),
    Compare(Term, Sign, Term),
    OneOf(Term, Operand<'static>),
    Contains(Term, Term),
}

pub enum Sign {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Sign {
    fn holds(&self, order: Ordering) -> bool {
        match self {
            Sign::Equal => order.is_eq(),
            Sign::Unequal => order.is_ne(),
            Sign::Less => order.is_lt(),
            Sign::LessOrEqual => order.is_le(),
            Sign::Greater => order.is_gt(),
            Sign::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl<'a> Known<'a> {
    /// The candidates, each with the sets that it is for; None if it can be anything.
    fn each(&self) -> Option<[(&Operand<'a>, u8); 2]> {
        let (value, of_null) = match self {
            Known::Any => return None,
            Known::One(value) => (value, 0),
            Known::OrNull(value) => (value, ANY),
            Known::Perhaps(value) => (value, of_each(ANY)),
        };
        Some([(value, of_each(ANY)), (&Operand::Null, of_null)])
    }

    fn map(self, change: impl FnOnce(Operand<'a>) -> Operand<'a>) -> Known<'a> {
        match self {
            Known::Any => Known::Any,
            Known::One(value) => Known::One(change(value)),
            Known::OrNull(value) => Known::OrNull(change(value)),
            Known::Perhaps(value) => Known::Perhaps(change(value)),
        }
    }
}

impl Term {
    fn find<'a>(&'a self, source: &'a impl Source) -> Known<'a> {
        match self {
            Term::Path(path) => source.find(path),
            Term::Length(path) => source.find(path).map(|value| {
                let length = value.items().map(|items| items.count() as i64);
                length.map_or(Operand::Null, Operand::Int)
            }),
            Term::Literal(value) => Known::One(value.clone()),
        }
    }
}

impl Condition {
    /// Tell whether the condition can come out true.
    pub fn may_hold(&self, source: &impl Source) -> bool {
        match self {
            Condition::And(parts) => parts.iter().all(|part| part.may_hold(source)),
            other => other.outcomes(source) & TRUE != 0,
        }
    }

    /// Return what is known of the outcome.
    pub fn verdict(&self, source: &impl Source) -> Verdict {
        let can_hold = |outcomes: u8| outcomes & TRUE != 0;
        let outcomes = match self {
            Condition::And(parts) => all(parts.iter().map(|part| part.outcomes(source)), can_hold),
            other => other.outcomes(source),
        };
        match outcomes >> READABLE {
            _ if !can_hold(outcomes) => Verdict::Never,
            TRUE => Verdict::IfReadable(true),
            readable if !can_hold(readable) => Verdict::IfReadable(false),
            _ => Verdict::Open,
        }
    }

    /// The possible outcomes.
    fn outcomes(&self, source: &impl Source) -> u8 {
        match self {
            Condition::And(parts) => all(parts.iter().map(|part| part.outcomes(source)), is_open),
            Condition::Or(parts) => {
                let not_one = parts.iter().map(|part| negated(part.outcomes(source)));
                negated(all(not_one, is_open))
            }
            Condition::Not(part) => negated(part.outcomes(source)),
            Condition::IsNull(term) => one(term.find(source), |value| {
                Some(matches!(value, Operand::Null))
            }),
            Condition::Matches(term, program) => one(term.find(source), |value| match value {
                Operand::Text(text) => Some(program.is_found(text)),
                _ => None,
            }),
            Condition::Compare(left, sign, right) => {
                two(left.find(source), right.find(source), |left, right| {
                    left.order(right).map(|order| sign.holds(order))
                })
            }
            Condition::OneOf(term, values) => {
                one(term.find(source), |value| contains(values, value))
            }
            Condition::Contains(item, list) => {
                two(item.find(source), list.find(source), |item, list| {
                    contains(list, item)
                })
            }
        }
    }
}

fn bit(decision: Option<bool>) -> u8 {
    match decision {
        None => NULL,
        Some(true) => TRUE,
        Some(false) => FALSE,
    }
}

/// The same outcomes in both sets.
const fn of_each(outcomes: u8) -> u8 {
    outcomes | outcomes << READABLE
}

fn one(known: Known, decide: impl Fn(&Operand) -> Option<bool>) -> u8 {
    let Some(each) = known.each() else {
        return of_each(ANY);
    };
    let mut outcomes = 0;
    for (value, sets) in each.into_iter().filter(|(_, sets)| *sets != 0) {
        outcomes |= of_each(bit(decide(value))) & sets;
    }
    outcomes
}

fn two(left: Known, right: Known, decide: impl Fn(&Operand, &Operand) -> Option<bool>) -> u8 {
    let (Some(left), Some(right)) = (left.each(), right.each()) else {
        return of_each(ANY);
    };
    let mut outcomes = 0;
    for (value, of_one) in left {
        for (other, of_other) in right {
            let sets = of_one & of_other;
            if sets != 0 {
                outcomes |= of_each(bit(decide(value, other))) & sets;
            }
        }
    }
    outcomes
}

/// Tell whether a list has a value; a null leaves it open.
fn contains(list: &Operand, value: &Operand) -> Option<bool> {
    let mut verdict = Some(false);
    for item in list.items()? {
        match value.order(&item) {
            Some(Ordering::Equal) => return Some(true),
            None => verdict = None,
            Some(_) => {}
        }
    }
    verdict
}

fn negated(outcomes: u8) -> u8 {
    outcomes & of_each(NULL) | (outcomes & of_each(TRUE)) << 1 | (outcomes & of_each(FALSE)) >> 1
}

/// Whether anything after an outcome of parts of `and` can change it.
fn is_open(outcomes: u8) -> bool {
    outcomes != of_each(FALSE)
}

/// The outcomes of `and`, until it does not go on.
fn all(parts: impl Iterator<Item = u8>, goes_on: impl Fn(u8) -> bool) -> u8 {
    let mut outcomes = of_each(TRUE);
    for part in parts {
        let readable = both(outcomes >> READABLE, part >> READABLE);
        outcomes = both(outcomes & ANY, part & ANY) | readable << READABLE;
        if !goes_on(outcomes) {
            break;
        }
    }
    outcomes
}

/// The outcomes of two parts of `and`: of false and null it is false.
fn both(outcomes: u8, other: u8) -> u8 {
    let either = outcomes | other;
    let has_null = either & NULL != 0 && outcomes & !FALSE != 0 && other & !FALSE != 0;
    outcomes & other & TRUE | either & FALSE | if has_null { NULL } else { 0 }
}

// The functions below compile the description of `kraftops.engine.native_conditions`.

fn wrong(what: &str) -> PyErr {
    PyValueError::new_err(format!("no {what}"))
}

impl Condition {
    pub fn compile(described: &Bound<PyAny>) -> PyResult<Condition> {
        let described = described.cast::<PyTuple>()?;
        let item = |index: usize| described.get_item(index);
        let term = |index: usize| Term::compile(&item(index)?);
        let parts = || -> PyResult<Vec<Condition>> {
            let listed = item(1)?;
            let parts = listed.try_iter()?;
            parts.map(|part| Condition::compile(&part?)).collect()
        };
        Ok(match item(0)?.extract::<String>()?.as_str() {
            "and" => Condition::And(parts()?),
            "or" => Condition::Or(parts()?),
            "not" => Condition::Not(Box::new(Condition::compile(&item(1)?)?)),
            "null" => Condition::IsNull(term(1)?),
            "match" => Condition::Matches(term(1)?, Program::compile(item(2)?.extract()?)?),
            "compare" => Condition::Compare(
                term(1)?,
                Sign::of(&item(2)?.extract::<String>()?)?,
                term(3)?,
            ),
            "in" => {
                let values = item(2)?;
                let values = values.try_iter()?.map(|value| literal(&value?));
                Condition::OneOf(term(1)?, Operand::List(values.collect::<PyResult<_>>()?))
            }
            "contains" => Condition::Contains(term(1)?, term(2)?),
            other => return Err(wrong(other)),
        })
    }
}

impl Sign {
    fn of(sign: &str) -> PyResult<Sign> {
        Ok(match sign {
            "=" => Sign::Equal,
            "!=" => Sign::Unequal,
            "<" => Sign::Less,
            "<=" => Sign::LessOrEqual,
            ">" => Sign::Greater,
            ">=" => Sign::GreaterOrEqual,
            other => return Err(wrong(other)),
        })
    }
}

impl Term {
    fn compile(described: &Bound<PyAny>) -> PyResult<Term> {
        let (kind, value): (String, Bound<PyAny>) = described.extract()?;
        Ok(match kind.as_str() {
            "path" => Term::Path(Path::of(&value)?),
            "length" => Term::Length(Path::of(&value)?),
            _ => Term::Literal(literal(described)?),
        })
    }
}

fn literal(described: &Bound<PyAny>) -> PyResult<Operand<'static>> {
    let (kind, value): (String, Bound<PyAny>) = described.extract()?;
    Ok(match kind.as_str() {
        "bool" => Operand::Bool(value.extract()?),
        "int" => Operand::Int(value.extract()?),
        "float" => Operand::Float(value.extract()?),
        "text" => Operand::Text(Cow::Owned(value.extract()?)),
        other => return Err(wrong(other)),
    })
}

impl Path {
    fn of(names: &Bound<PyAny>) -> PyResult<Path> {
        let names: Vec<Vec<u8>> = names.extract()?;
        let (first, rest) = names.split_first().ok_or_else(|| wrong("path"))?;
        let column = std::str::from_utf8(first).ok().and_then(Column::of);
        Ok(Path {
            column: column.ok_or_else(|| wrong("column"))?,
            rest: rest.to_vec(),
        })
    }
}
