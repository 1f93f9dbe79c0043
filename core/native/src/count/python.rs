//! The class `Counter` for Python, and the values that it returns; each has the name and the fields of
//! one in `kraftops.engine.count_contract`.
use super::tally::{History, Span, Tally};
use super::tops::{HeavyHitters, LargeBatch, LargeRecord, Limits, Tops};
use super::transactions::{Begin, Producer, Transactions};
use super::{Amounts, Counted, Counter, Counts, Inflated};
use crate::batch::{HEADER_SIZE, Next, next_batch};
use crate::inflate::{Inflater, Records};
use crate::python::{PyControl, PyDecoder, compile_scan, guarded};
use crate::scan::Step;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// The counter of the records of a file, given its batches in order.
#[pyclass(name = "Counter")]
pub struct PyCounter {
    counter: Counter,
    inflater: Py<Inflater>,
}

/// Type, version, number and bytes of records.
type Amount = (Option<i32>, Option<i32>, u64, u64);

#[pyclass(frozen, get_all, name = "Counted")]
pub struct PyCounted {
    records: u64,
    size: u64,
    skipped: u64,
    offsets: Option<(i64, i64)>,
    times: Option<(i64, i64)>,
    amounts: Vec<Amount>,
    numbers: Option<Vec<u32>>,
    errors: Vec<(i64, u64, String)>,
}

#[pyclass(frozen, get_all, name = "HeavyHitters")]
pub struct PyHeavyHitters {
    counts: Py<PyDict>,
    total: u64,
    error: u64,
}

#[pyclass(frozen, get_all, name = "Tops")]
pub struct PyTops {
    keys: Py<PyHeavyHitters>,
    keyless: u64,
    largest: Vec<LargeRecord>,
    producers: Py<PyHeavyHitters>,
    batches: Vec<LargeBatch>,
}

#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub struct BatchTally {
    amount: (u64, u64),
    control: u64,
    transactional: u64,
    magics: Counts,
    sizes: Counts,
    records: Counts,
}

#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub struct OffsetTally {
    first: i64,
    last: i64,
    gaps: (Vec<(i64, i64)>, u64, i128),
    backward: u64,
    removed: i128,
}

#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub struct ProducerTally {
    producer_id: i64,
    epoch: i16,
    numbers: (u64, u64, u64, u64),
    head: Option<Begin>,
    first_end: Option<i64>,
    tail: Option<Begin>,
}

#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub struct TransactionTally {
    committed: u64,
    aborted: u64,
    durations: Vec<(u64, u64)>,
    producers: Vec<ProducerTally>,
    idempotent: Vec<i64>,
}

#[pyclass(frozen, get_all, name = "Tally")]
pub struct PyTally {
    reach: Option<i64>,
    batches: BatchTally,
    records: (u64, u64),
    offsets: Option<OffsetTally>,
    times: Option<(i64, i64)>,
    history: History,
    epochs: Vec<(i32, i64, u64, u64)>,
    codecs: Vec<(usize, (u64, u64, u64))>,
    amounts: Vec<Amount>,
    controls: Vec<(Option<i32>, (u64, u64))>,
    errors: Vec<(i64, i64, u64, String)>,
    transactions: TransactionTally,
}

/// See `kraftops.engine.count_contract.LogCount`.
#[pyclass(frozen, get_all)]
pub struct LogCount {
    size: u64,
    records: u64,
    offsets: Option<(i64, i64)>,
    end: Option<i64>,
    times: Option<(i64, i64)>,
}

impl LogCount {
    /// Return what a table has of a log; None if it has more to tell.
    fn of(tally: &Tally) -> Option<LogCount> {
        let is_plain = tally.control_batches == 0 && tally.transactional_batches == 0;
        (is_plain && tally.errors.is_empty()).then_some(LogCount {
            size: tally.batches.1,
            records: tally.records.0,
            offsets: tally.span.ends,
            end: tally.reach,
            times: tally.times,
        })
    }
}

#[pymethods]
impl PyCounter {
    /// *limits* are those of `Tops`, or None without tops.
    #[new]
    fn new(
        decoder: &PyDecoder,
        control: &PyControl,
        inflater: Py<Inflater>,
        described: &Bound<PyDict>,
        limits: Option<(usize, usize, usize)>,
    ) -> PyResult<Self> {
        let tops = limits.map(|(keys, key_size, largest)| {
            Tops::new(Limits {
                keys,
                key_size,
                largest,
            })
        });
        let scan = compile_scan(decoder, control, described)?;
        let counter = Counter::new(scan, tops);
        Ok(PyCounter { counter, inflater })
    }

    /// Count the *records* of *batch*, which are its own bytes if it is not compressed.
    ///
    /// It returns None if they are damaged.
    fn add(
        &mut self,
        py: Python,
        batch: &[u8],
        records: &[u8],
        position: i64,
        limits: (u64, u64),
    ) -> PyResult<Option<PyCounted>> {
        let Next::Batch(header) = next_batch(batch, 0) else {
            return Ok(None);
        };
        let inflated = Inflated {
            header: &header,
            batch,
            records,
            at: if header.codec() == 0 { HEADER_SIZE } else { 0 },
            position,
        };
        let mut amounts = Amounts::default();
        let counter = &mut self.counter;
        let counted = guarded(|| py.detach(|| counter.add(inflated, limits, &mut amounts)))?;
        Ok(counted.map(|counted| PyCounted::of(counted, amounts)))
    }

    /// Count the whole batches of *data* from *start* on in the tally, up to one that it declines
    /// or a full tally; return the index after the last one.
    fn add_window(
        &mut self,
        py: Python,
        data: &[u8],
        start: usize,
        position: i64,
    ) -> PyResult<usize> {
        let base = position.wrapping_sub(start as i64);
        let mut next = start;
        let mut inflated: Option<Records> = None;
        loop {
            let records = inflated.as_ref().map(|records| records.bytes(py));
            let counter = &mut self.counter;
            let step = guarded(|| py.detach(|| counter.run(data, &mut next, base, records)))?;
            drop(inflated.take()); // before the next ones are inflated
            match step {
                Step::More | Step::Declined | Step::Full => return Ok(next),
                Step::Inflate(codec, from, to) => {
                    let stored = data.get(from..to).unwrap_or(b"");
                    inflated = self.inflater.get().records(py, codec, stored)?;
                    if inflated.is_none() {
                        return Ok(next);
                    }
                }
            }
        }
    }

    /// See `kraftops.engine.count_contract.RecordCounter.count_logs`.
    fn count_logs(
        &mut self,
        py: Python,
        buffer: &[u8],
        stops: Vec<usize>,
    ) -> PyResult<Vec<Option<LogCount>>> {
        let mut start = 0;
        let mut counts = Vec::with_capacity(stops.len());
        for stop in stops {
            let log = buffer.get(start..stop).unwrap_or(b"");
            let is_whole = self.add_window(py, log, 0, 0)? == log.len();
            let tally = std::mem::take(&mut self.counter.tally);
            counts.push(LogCount::of(&tally).filter(|_| is_whole));
            start = stop;
        }
        Ok(counts)
    }

    /// Return the tally, and begin another; None of an empty one.
    fn tally(&mut self) -> Option<PyTally> {
        let tally = std::mem::take(&mut self.counter.tally);
        tally.reach.is_some().then(|| PyTally::of(tally))
    }

    fn tops(&self, py: Python) -> PyResult<Option<PyTops>> {
        let Some(tops) = &self.counter.tops else {
            return Ok(None);
        };
        Ok(Some(PyTops {
            keys: hitters(py, &tops.keys, |key| PyBytes::new(py, key))?,
            keyless: tops.keyless,
            largest: tops.largest.clone(),
            producers: hitters(py, &tops.producers, |id| *id)?,
            batches: tops.batches.clone(),
        }))
    }
}

/// Add the classes of the values that counters return.
pub fn add_values(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<BatchTally>()?;
    module.add_class::<History>()?;
    module.add_class::<LargeBatch>()?;
    module.add_class::<LargeRecord>()?;
    module.add_class::<LogCount>()?;
    module.add_class::<OffsetTally>()?;
    module.add_class::<ProducerTally>()?;
    module.add_class::<PyCounted>()?;
    module.add_class::<PyHeavyHitters>()?;
    module.add_class::<PyTally>()?;
    module.add_class::<PyTops>()?;
    module.add_class::<TransactionTally>()
}

fn hitters<'py, Key, Shown: IntoPyObject<'py>>(
    py: Python<'py>,
    hitters: &HeavyHitters<Key>,
    show: impl Fn(&Key) -> Shown,
) -> PyResult<Py<PyHeavyHitters>> {
    let counts = PyDict::new(py);
    for (key, count) in &hitters.counts {
        counts.set_item(show(key), *count)?;
    }
    let (counts, total, error) = (counts.unbind(), hitters.total, hitters.error);
    Py::new(
        py,
        PyHeavyHitters {
            counts,
            total,
            error,
        },
    )
}

fn amounts_of(amounts: Amounts) -> Vec<Amount> {
    let amounts = amounts.list.into_iter();
    amounts
        .map(|((number, version), count, size)| (number, version, count, size))
        .collect()
}

impl PyCounted {
    fn of(counted: Counted, amounts: Amounts) -> PyCounted {
        PyCounted {
            records: counted.count,
            size: counted.size,
            skipped: counted.skipped,
            offsets: counted.offsets,
            times: counted.times,
            amounts: amounts_of(amounts),
            numbers: counted.numbers,
            errors: counted.errors,
        }
    }
}

impl PyTally {
    fn of(tally: Tally) -> PyTally {
        let epochs = tally.epochs.into_iter();
        let codecs = tally.codecs.into_iter().enumerate();
        PyTally {
            reach: tally.reach,
            batches: BatchTally {
                amount: tally.batches,
                control: tally.control_batches,
                transactional: tally.transactional_batches,
                magics: tally.magics,
                sizes: tally.sizes,
                records: tally.records_per_batch,
            },
            records: tally.records,
            offsets: OffsetTally::of(tally.span),
            times: tally.times,
            history: tally.history,
            epochs: epochs
                .map(|(epoch, (first, batches, records))| (epoch, first, batches, records))
                .collect(),
            codecs: codecs.filter(|(_, (batches, ..))| *batches > 0).collect(),
            amounts: amounts_of(tally.amounts),
            controls: tally.controls.into_iter().collect(),
            errors: tally.errors,
            transactions: TransactionTally::of(tally.transactions),
        }
    }
}

impl OffsetTally {
    fn of(span: Span) -> Option<OffsetTally> {
        let (first, last) = span.ends?;
        Some(OffsetTally {
            first,
            last,
            gaps: (span.gaps, span.gap_count, span.missing),
            backward: span.backward,
            removed: span.removed,
        })
    }
}

impl TransactionTally {
    fn of(transactions: Transactions) -> TransactionTally {
        let producers = transactions.producers.into_iter();
        TransactionTally {
            committed: transactions.committed,
            aborted: transactions.aborted,
            durations: transactions.durations.into_iter().collect(),
            producers: producers
                .map(|(id, producer)| ProducerTally::of(id, &producer))
                .collect(),
            idempotent: transactions.idempotent.into_iter().collect(),
        }
    }
}

impl ProducerTally {
    fn of(id: i64, producer: &Producer) -> ProducerTally {
        ProducerTally {
            producer_id: id,
            epoch: producer.epoch,
            numbers: (
                producer.batches,
                producer.records,
                producer.committed,
                producer.aborted,
            ),
            head: producer.head,
            first_end: producer.first_end,
            tail: producer.tail,
        }
    }
}
