//! The class `Counter` for Python, used by `kraftops.engine.native`.
use super::tally::Tally;
use super::tops::{HeavyHitters, Large, LargeBatch, Limits, Tops};
use super::transactions::{Begin, Producer, Transactions};
use super::{Amounts, Counted, Counter, Inflated, Label};
use crate::batch::{HEADER_SIZE, Next, next_batch};
use crate::inflate::{Inflater, Records};
use crate::python::{PyControl, PyDecoder, compile_scan, guarded};
use crate::scan::Step;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

/// The counter of the records of a file, given its batches in order.
#[pyclass(name = "Counter")]
pub struct PyCounter {
    counter: Counter,
    inflater: Py<Inflater>,
}

type Amount = (Option<i32>, Option<i32>, u64, u64);
type CountedFields = (
    u64,
    u64,
    u64,
    Option<(i64, i64)>,
    Option<(i64, i64)>,
    Vec<Amount>,
    Option<Vec<u32>>,
    Vec<(i64, u64, String)>,
);

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
    /// It returns None if they are damaged; see `kraftops.engine.count_contract.Counted`.
    fn add(
        &mut self,
        py: Python,
        batch: &[u8],
        records: &[u8],
        position: i64,
        limits: (u64, u64),
    ) -> PyResult<Option<CountedFields>> {
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
        Ok(counted.map(|counted| counted_fields(counted, amounts)))
    }

    /// Count the whole batches of *data* from *start* on in the tally, up to one that it declines
    /// or a full tally; return the index behind the last one.
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

    /// Return the fields of a `kraftops.engine.count_contract.Tally`, and begin another; None of
    /// an empty one.
    fn tally<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let tally = std::mem::take(&mut self.counter.tally);
        let is_empty = tally.reach.is_none();
        (!is_empty).then(|| tally_fields(py, tally)).transpose()
    }

    /// Return frequent keys, records without a key, the largest records, the largest producers
    /// and batches; see `kraftops.engine.count_contract.Tops`.
    fn tops<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(tops) = &self.counter.tops else {
            return Ok(None);
        };
        let keys = hitters(&tops.keys, |key| PyBytes::new(py, key));
        let producers = hitters(&tops.producers, |id| *id);
        let largest: Vec<_> = tops.largest.iter().map(large_fields).collect();
        let batches: Vec<_> = tops.batches.iter().map(batch_fields).collect();
        (keys, tops.keyless, largest, producers, batches)
            .into_pyobject(py)
            .map(Some)
    }
}

/// The fields of a `HeavyHitters`: counts, total and error.
fn hitters<Key, Shown>(
    hitters: &HeavyHitters<Key>,
    show: impl Fn(&Key) -> Shown,
) -> (Vec<(Shown, u64)>, u64, u64) {
    let counts = hitters.counts.iter();
    let shown = counts.map(|(key, count)| (show(key), *count)).collect();
    (shown, hitters.total, hitters.error)
}

fn amount_fields(amounts: Amounts) -> Vec<Amount> {
    let amounts = amounts.list.into_iter();
    amounts
        .map(|((number, version), count, size)| (number, version, count, size))
        .collect()
}

fn counted_fields(counted: Counted, amounts: Amounts) -> CountedFields {
    (
        counted.count,
        counted.size,
        counted.skipped,
        counted.offsets,
        counted.times,
        amount_fields(amounts),
        counted.numbers,
        counted.errors,
    )
}

type LargeFields = (u64, i64, i64, i64, Option<usize>, Option<usize>, Label);

fn large_fields(large: &Large) -> LargeFields {
    (
        large.size,
        large.position,
        large.offset,
        large.time,
        large.key_size,
        large.value_size,
        large.label,
    )
}

fn batch_fields(batch: &LargeBatch) -> (u64, i64, i64, u64, &'static str, Option<i64>) {
    (
        batch.size,
        batch.position,
        batch.base_offset,
        batch.records,
        batch.codec,
        batch.producer,
    )
}

fn tally_fields(py: Python, tally: Tally) -> PyResult<Bound<PyTuple>> {
    let span = &tally.span;
    let offsets = span.ends.map(|(first, last)| {
        let gaps = (&span.gaps, span.gap_count, span.missing);
        (first, last, gaps, span.backward, span.removed)
    });
    let history = &tally.history;
    let epochs: Vec<_> = tally
        .epochs
        .into_iter()
        .map(|(epoch, (first, batches, records))| (epoch, first, batches, records))
        .collect();
    let codecs: Vec<_> = tally
        .codecs
        .into_iter()
        .enumerate()
        .filter(|(_, (batches, ..))| *batches > 0)
        .collect();
    let controls: Vec<_> = tally.controls.into_iter().collect();
    let batches = (
        tally.batches,
        tally.control_batches,
        tally.transactional_batches,
        tally.magics,
        tally.sizes,
        tally.records_per_batch,
    );
    (
        tally.reach,
        batches,
        tally.records,
        offsets,
        tally.times,
        (history.shift, history.first, &history.buckets),
        epochs,
        codecs,
        amount_fields(tally.amounts),
        controls,
        tally.errors,
        transaction_fields(tally.transactions),
    )
        .into_pyobject(py)
}

type ProducerFields = (
    i64,
    i16,
    (u64, u64, u64, u64),
    Option<Begin>,
    Option<i64>,
    Option<Begin>,
);
type TransactionFields = (u64, u64, Vec<(u64, u64)>, Vec<ProducerFields>, Vec<i64>);

fn transaction_fields(transactions: Transactions) -> TransactionFields {
    let producers = transactions.producers.into_iter();
    (
        transactions.committed,
        transactions.aborted,
        transactions.durations.into_iter().collect(),
        producers
            .map(|(id, producer)| producer_fields(id, &producer))
            .collect(),
        transactions.idempotent.into_iter().collect(),
    )
}

fn producer_fields(id: i64, producer: &Producer) -> ProducerFields {
    (
        id,
        producer.epoch,
        (
            producer.batches,
            producer.records,
            producer.committed,
            producer.aborted,
        ),
        producer.head,
        producer.first_end,
        producer.tail,
    )
}
