//! The classes `Rules` and `Fold` for Python; `kraftops.engine.native_fold` names their tuples.
use super::index::index;
use super::partition_state::Batches;
use super::rules::Rules;
use super::timeline::{Buckets, COUNTS, LEVELS, Timeline, TimelineRequest, Worst};
use super::topics::Id;
use super::watch::{QuotaEntity, table_name};
use super::window::BatchBounds;
use super::{Fold, FoldProgress};
use crate::python::guarded;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The rules of records; made once, shared by folds.
#[pyclass(frozen, name = "Rules")]
pub struct PyRules(Arc<Rules>);

#[pymethods]
impl PyRules {
    #[new]
    fn new(described: &Bound<PyAny>) -> PyResult<Self> {
        Ok(PyRules(Arc::new(Rules::compile(described)?)))
    }

    /// Return the groups of similar records; see `kraftops.engine.index_contract.RecordGroup`.
    fn index<'py>(
        &self,
        py: Python<'py>,
        data: &[u8],
        position: usize,
        number: i64,
        stop: i64,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let groups = guarded(|| py.detach(|| index(&self.0, data, position, number, stop)))?;
        let tuples = groups.into_iter().map(|group| {
            let (kind, version) = group.label.unzip();
            let (id, partition) = group.partition.unzip();
            let id = id.map(|id| PyBytes::new(py, &id));
            let (number, total, start, end) = (group.number, group.total, group.start, group.end);
            (number, total, start, end, kind, version, id, partition).into_pyobject(py)
        });
        tuples.collect()
    }
}

#[pyclass(name = "Fold")]
pub struct PyFold {
    fold: Fold,
    fetch: Py<PyAny>,
}

/// A broker: id, epoch, addresses, and the newest change.
type Registered = (i32, i64, Vec<u64>, (u64, u32));
type ClusterTables<'py> = (
    Bound<'py, PyDict>,
    Bound<'py, PyDict>,
    Option<(i16, u64)>,
    Option<u64>,
);
type ByTopic<'py> = Vec<(Bound<'py, PyBytes>, Vec<i32>)>;

fn by_topic(py: Python, numbers_by_topic: Vec<(Id, Vec<i32>)>) -> ByTopic {
    let numbers_by_topic = numbers_by_topic.into_iter();
    numbers_by_topic
        .map(|(id, numbers)| (PyBytes::new(py, &id), numbers))
        .collect()
}

fn id_of(raw: &[u8]) -> PyResult<Id> {
    raw.try_into()
        .map_err(|_| PyValueError::new_err("an id has 16 bytes"))
}

fn ids_of(raw: Option<Vec<Vec<u8>>>) -> PyResult<Option<Vec<Id>>> {
    let ids = raw.map(|ids| ids.iter().map(|id| id_of(id)).collect());
    ids.transpose()
}

/// The fields of a `FoldProgress`.
fn progress_tuple<'py>(py: Python<'py>, progress: &FoldProgress) -> PyResult<Bound<'py, PyTuple>> {
    (
        progress.position,
        progress.number,
        progress.last,
        progress.marker.map(|(_, number)| number),
        progress.is_malformed,
        progress.has_changes,
        progress.applied,
        progress.dropped,
        progress.unreadable,
    )
        .into_pyobject(py)
}

#[pymethods]
impl PyFold {
    #[new]
    fn new(rules: &PyRules, described: &Bound<PyDict>, fetch: Py<PyAny>) -> PyResult<Self> {
        Ok(PyFold {
            fold: Fold::new(Arc::clone(&rules.0), described)?,
            fetch,
        })
    }

    /// Return another fold with the same state.
    fn copy(&self, py: Python, fetch: Py<PyAny>) -> PyResult<Self> {
        let fold = guarded(|| py.detach(|| self.fold.copy()))?;
        Ok(PyFold { fold, fetch })
    }

    fn size(&self) -> usize {
        self.fold.size()
    }

    fn begin_unit(&mut self) {
        self.fold.begin_unit();
    }

    fn seed(&mut self, is_seeded: bool) {
        self.fold.is_seeded = is_seeded;
    }

    fn apply<'py>(
        &mut self,
        py: Python<'py>,
        data: &[u8],
        address: u64,
        position: usize,
        number: i64,
        stop: i64,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let fold = &mut self.fold;
        let work = || fold.apply(data, address, position, number, stop);
        progress_tuple(py, &guarded(|| py.detach(work))?)
    }

    fn skim<'py>(
        &self,
        py: Python<'py>,
        data: &[u8],
        position: usize,
        number: i64,
        stop: i64,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let work = || self.fold.skim(data, position, number, stop);
        progress_tuple(py, &guarded(|| py.detach(work))?)
    }

    /// Apply ordinary batches; *bounds* are the fields of `kraftops.engine.fold_contract.BatchBounds`.
    fn apply_window<'py>(
        &mut self,
        py: Python<'py>,
        window: &[u8],
        start: usize,
        first: u64,
        bounds: (Option<i64>, i32, i64, i64, i64),
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (expected, epoch, after, until, time) = bounds;
        let bounds = BatchBounds {
            expected,
            epoch,
            after,
            until,
            time,
        };
        let fold = &mut self.fold;
        let result = guarded(|| py.detach(|| fold.apply_window(window, start, first, bounds)))?;
        let raw: Vec<u8> = result
            .batches
            .iter()
            .flatten()
            .flat_map(|n| n.to_ne_bytes())
            .collect();
        let inside = result
            .inside
            .map(|progress| progress_tuple(py, &progress))
            .transpose()?;
        let batches = PyBytes::new(py, &raw);
        (
            result.next,
            batches,
            result.transactions,
            result.last,
            inside,
            result.newest,
        )
            .into_pyobject(py)
    }

    fn drop(&mut self, address: u64, reason: &str) {
        self.fold.dropped.add(address, reason);
    }

    #[getter]
    fn dropped(&self) -> usize {
        self.fold.dropped.count()
    }

    fn dropped_record(&self, number: usize) -> PyResult<(u64, &str)> {
        let record = self.fold.dropped.get(number);
        record.ok_or_else(|| pyo3::exceptions::PyIndexError::new_err("no record of this number"))
    }

    fn forget_dropped(&mut self) {
        self.fold.dropped = super::Dropped::default();
    }

    fn watch(&mut self, keys: Vec<(String, Bound<PyTuple>)>) -> PyResult<()> {
        self.fold.watch.set(keys)
    }

    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let changes = self.fold.watch.changes.iter();
        changes.map(|change| change.to_python(py)).collect()
    }

    /// Make a timeline; *request* has the fields of `kraftops.engine.timeline_contract.TimelineRequest`.
    fn keep_time(
        &mut self,
        py: Python,
        request: (i64, i64, i64, usize, usize, usize, Vec<i64>),
        tables: Vec<String>,
    ) -> PyResult<()> {
        let (since, earliest, latest, buckets, kept, worst, steps) = request;
        let limits = &self.fold.limits;
        let request = TimelineRequest {
            since,
            earliest,
            latest,
            kept,
            worst,
        };
        let buckets = Buckets::new(steps, buckets, limits.most_brokers);
        let made = Timeline::new(request, limits.min_isr.clone(), buckets);
        self.fold.timeline = Some(Box::new(made));
        let keys = tables.into_iter().map(|name| (name, PyTuple::empty(py)));
        self.fold.watch.set(keys.collect())?;
        self.fold.watch.is_keyless = true;
        Ok(())
    }

    fn set_clock(&mut self, base: i64, append_time: Option<i64>) {
        if let Some(timeline) = &mut self.fold.timeline {
            timeline.set_clock(base, append_time);
        }
    }

    fn start_timeline(&mut self, time: Option<i64>) {
        if let Some(timeline) = &mut self.fold.timeline {
            timeline.start(time);
        }
    }

    /// Return the fields of `kraftops.engine.timeline_contract.Timeline`.
    fn timeline<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(timeline) = &self.fold.timeline else {
            return Ok(None);
        };
        let changes = timeline.changes();
        let addresses: Vec<u64> = changes.iter().map(|change| change.change.keyed()).collect();
        let mut batches = Batches::new(py, &self.fetch);
        let keys = self.fold.keys_of(&addresses, &mut batches)?;
        let list = PyList::empty(py);
        for (change, key) in changes.iter().zip(&keys) {
            list.append((
                change.time,
                change.address,
                change.change.with_key(py, key)?,
            ))?;
        }
        timeline_tuple(py, timeline, list).map(Some)
    }

    fn topic_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ids = PyDict::new(py);
        for (name, id) in self.fold.topics.names_in_order() {
            ids.set_item(&**name, PyBytes::new(py, &id))?;
        }
        Ok(ids)
    }

    fn topic_ids<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let topics = self.fold.topics.in_order();
        topics
            .iter()
            .map(|topic| PyBytes::new(py, &topic.id))
            .collect()
    }

    fn topic_id<'py>(&self, py: Python<'py>, name: &str) -> Option<Bound<'py, PyBytes>> {
        let id = self.fold.topics.of_name(name)?;
        Some(PyBytes::new(py, &id))
    }

    fn topic(&self, topic_id: &[u8]) -> PyResult<Option<(&str, u64)>> {
        let topic = self.fold.topics.get(&id_of(topic_id)?);
        Ok(topic.map(|topic| (&*topic.name, topic.address)))
    }

    #[pyo3(signature = (topic_id=None))]
    fn partition_count(&self, topic_id: Option<&[u8]>) -> PyResult<usize> {
        let id = topic_id.map(id_of).transpose()?;
        Ok(self.fold.partition_count(id.as_ref()))
    }

    fn topic_count(&self) -> usize {
        self.fold.topics.len()
    }

    fn numbers(&self, topic_id: &[u8]) -> PyResult<Vec<i32>> {
        let topic = self.fold.topics.get(&id_of(topic_id)?);
        Ok(topic.map_or(Vec::new(), |topic| {
            topic.partitions().map(|(number, _)| number).collect()
        }))
    }

    fn newest(&self, topic_id: &[u8], number: i32) -> PyResult<Option<(u64, u32, bool)>> {
        let topic = self.fold.topics.get(&id_of(topic_id)?);
        let partition = topic.and_then(|topic| topic.get(number));
        Ok(partition.map(|partition| self.fold.newest_of(partition)))
    }

    fn newest_below(
        &self,
        topic_id: Option<&[u8]>,
        exact: Option<PyRef<PyFold>>,
    ) -> PyResult<Option<(u64, u32, bool)>> {
        let id = topic_id.map(id_of).transpose()?;
        let exact = exact.as_ref().map(|other| &other.fold);
        Ok(self.fold.newest_below(id.as_ref(), exact))
    }

    fn partition<'py>(
        &self,
        py: Python<'py>,
        topic_id: &[u8],
        number: i32,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let topic = self.fold.topics.get(&id_of(topic_id)?);
        let Some(partition) = topic.and_then(|topic| topic.get(number)) else {
            return Ok(None);
        };
        let mut batches = Batches::new(py, &self.fetch);
        let state = self.fold.state_of(partition, &mut batches)?;
        state.to_python(py).map(Some)
    }

    fn partitions<'py>(
        &self,
        py: Python<'py>,
        topic_id: &[u8],
    ) -> PyResult<Vec<(i32, Bound<'py, PyTuple>)>> {
        let Some(topic) = self.fold.topics.get(&id_of(topic_id)?) else {
            return Ok(Vec::new());
        };
        let mut batches = Batches::new(py, &self.fetch);
        let mut partitions = Vec::new();
        for (number, partition) in topic.partitions() {
            let state = self.fold.state_of(partition, &mut batches)?;
            partitions.push((number, state.to_python(py)?));
        }
        Ok(partitions)
    }

    /// Return the states of partitions, in this order; each batch is fetched once.
    fn states<'py>(
        &self,
        py: Python<'py>,
        chosen: Vec<(Vec<u8>, i32)>,
    ) -> PyResult<Vec<Option<Bound<'py, PyTuple>>>> {
        let mut places = Vec::with_capacity(chosen.len());
        for (state_place, (id, number)) in chosen.iter().enumerate() {
            let topic = self.fold.topics.get(&id_of(id)?);
            if let Some(partition) = topic.and_then(|topic| topic.get(*number)) {
                places.push((self.fold.base_of(partition), state_place, partition));
            }
        }
        places.sort_unstable_by_key(|(base, ..)| *base);
        let mut states = vec![None; chosen.len()];
        let mut batches = Batches::new(py, &self.fetch);
        for (_, state_place, partition) in places {
            let state = self.fold.state_of(partition, &mut batches)?;
            if let Some(place) = states.get_mut(state_place) {
                *place = Some(state.to_python(py)?);
            }
        }
        Ok(states)
    }

    fn count_with(&self, py: Python, condition: u32) -> usize {
        py.detach(|| self.fold.count_with(condition))
    }

    fn partitions_with<'py>(&self, py: Python<'py>, condition: u32) -> ByTopic<'py> {
        by_topic(py, py.detach(|| self.fold.partitions_with(condition)))
    }

    fn suspects<'py>(
        &self,
        py: Python<'py>,
        directories: HashMap<i32, Vec<Vec<u8>>>,
    ) -> PyResult<ByTopic<'py>> {
        let mut ids_by_broker: HashMap<i32, HashSet<Id>> = HashMap::new();
        for (broker, ids) in directories {
            let ids = ids.iter().map(|id| id_of(id)).collect::<PyResult<_>>()?;
            ids_by_broker.insert(broker, ids);
        }
        let mut batches = Batches::new(py, &self.fetch);
        Ok(by_topic(
            py,
            self.fold.suspects(&mut batches, &ids_by_broker)?,
        ))
    }

    fn different<'py>(&self, py: Python<'py>, other: PyRef<PyFold>) -> PyResult<ByTopic<'py>> {
        let mine = self.fold.digests(&mut Batches::new(py, &self.fetch))?;
        let theirs = other.fold.digests(&mut Batches::new(py, &other.fetch))?;
        let partitions = self.fold.different(&mine, &other.fold, &theirs);
        Ok(by_topic(py, partitions))
    }

    fn replica_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let by_broker = PyDict::new(py);
        let mut batches = Batches::new(py, &self.fetch);
        for (broker, counts) in self.fold.replica_counts(&mut batches)? {
            let topics = PyDict::new(py);
            for (id, count) in counts {
                topics.set_item(PyBytes::new(py, &id), count)?;
            }
            by_broker.set_item(broker, topics)?;
        }
        Ok(by_broker)
    }

    fn broker_loads(&self, py: Python) -> PyResult<BTreeMap<i32, (u64, u64)>> {
        let mut batches = Batches::new(py, &self.fetch);
        self.fold.broker_loads(&mut batches)
    }

    fn with_role<'py>(
        &self,
        py: Python<'py>,
        role: u32,
        brokers: HashSet<i32>,
        topics: Option<Vec<Vec<u8>>>,
    ) -> PyResult<ByTopic<'py>> {
        let (topics, mut batches) = (ids_of(topics)?, Batches::new(py, &self.fetch));
        let topics = topics.as_deref();
        let partitions = self.fold.with_role(&mut batches, role, &brokers, topics)?;
        Ok(by_topic(py, partitions))
    }

    fn in_directory<'py>(
        &self,
        py: Python<'py>,
        directory: &[u8],
        topics: Option<Vec<Vec<u8>>>,
    ) -> PyResult<ByTopic<'py>> {
        let (topics, mut batches) = (ids_of(topics)?, Batches::new(py, &self.fetch));
        let (id, topics) = (id_of(directory)?, topics.as_deref());
        let partitions = self.fold.in_directory(&mut batches, &id, topics)?;
        Ok(by_topic(py, partitions))
    }

    fn directories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let by_directory = PyDict::new(py);
        let mut batches = Batches::new(py, &self.fetch);
        for (id, brokers) in self.fold.directories(&mut batches)? {
            by_directory.set_item(PyBytes::new(py, &id), brokers)?;
        }
        Ok(by_directory)
    }

    fn short_of<'py>(
        &self,
        py: Python<'py>,
        needed: HashMap<Vec<u8>, u64>,
        usual: u64,
    ) -> PyResult<ByTopic<'py>> {
        let needed = needed.iter().map(|(id, count)| Ok((id_of(id)?, *count)));
        let needed: HashMap<Id, u64> = needed.collect::<PyResult<_>>()?;
        let partitions = py.detach(|| self.fold.short_of(&needed, usual));
        Ok(by_topic(py, partitions))
    }

    fn state_columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut batches = Batches::new(py, &self.fetch);
        self.fold.state_columns(&mut batches)?.into_python(py)
    }

    fn brokers(&self) -> Vec<Registered> {
        let brokers = self.fold.brokers.in_order().into_iter();
        brokers
            .map(|(id, broker)| {
                let mut addresses: Vec<u64> = broker.changes.iter().flatten().copied().collect();
                addresses.push(broker.base);
                addresses.sort_unstable();
                addresses.dedup();
                let newest = (broker.newest, broker.records);
                (*id, broker.epoch, addresses, newest)
            })
            .collect()
    }

    /// Return the fields of `kraftops.engine.metadata_state.Tables` but the second: Kafka has no records for it.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let fold = &self.fold;
        let (controllers, features, metadata_version, producer_ids) = self.cluster_tables(py)?;
        let configs = PyDict::new(py);
        for ((kind, name), keys) in fold.configs.in_order() {
            let named = PyDict::new(py);
            for (key, address) in keys.in_order() {
                named.set_item(fold.config_names.text(*key), address)?;
            }
            configs.set_item((kind, name), named)?;
        }
        let quotas = PyDict::new(py);
        for (entity, keys) in fold.quotas.in_order() {
            quotas.set_item(entity_of(py, entity)?, inner(py, keys)?)?;
        }
        let acls = PyDict::new(py);
        for (id, address) in fold.acls.in_order() {
            acls.set_item(PyBytes::new(py, id), address)?;
        }
        let scram = PyDict::new(py);
        for (mechanism, users) in fold.scram.in_order() {
            scram.set_item(mechanism, inner(py, users)?)?;
        }
        let tokens = inner(py, &fold.tokens)?;
        (
            controllers,
            configs,
            quotas,
            acls,
            scram,
            tokens,
            features,
            metadata_version,
            producer_ids,
        )
            .into_pyobject(py)
    }

    /// Return the fields of `kraftops.engine.metadata_state.ClusterTables`.
    fn cluster_tables<'py>(&self, py: Python<'py>) -> PyResult<ClusterTables<'py>> {
        let fold = &self.fold;
        let controllers = PyDict::new(py);
        for (id, address) in fold.controllers.in_order() {
            controllers.set_item(id, address)?;
        }
        let features = PyDict::new(py);
        for (name, level) in fold.features.in_order() {
            features.set_item(name, *level)?;
        }
        Ok((
            controllers,
            features,
            fold.metadata_version,
            fold.producer_ids,
        ))
    }
}

fn timeline_tuple<'py>(
    py: Python<'py>,
    timeline: &Timeline,
    changes: Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyTuple>> {
    let progress = &timeline.progress;
    let start = progress.buckets.start();
    let series = PyDict::new(py);
    for (name, broker, values) in timeline.series() {
        series.set_item((name, broker), values)?;
    }
    let firsts = PyDict::new(py);
    let levels = LEVELS.iter().zip(&progress.first_levels);
    for (name, first) in levels.chain(COUNTS.iter().zip(&progress.first_counts)) {
        if let Some(first) = first {
            firsts.set_item(name, *first)?;
        }
    }
    let left_out = PyDict::new(py);
    for (table, count) in timeline.left_out() {
        left_out.set_item(table_name(table), count)?;
    }
    let losses = py.detach(|| timeline.losses());
    let touched = PyDict::new(py);
    for (name, count) in LEVELS.iter().zip(losses.touched) {
        touched.set_item(name, count)?;
    }
    let at_end = PyDict::new(py);
    for (name, count) in LEVELS.iter().zip(progress.levels) {
        at_end.set_item(name, count)?;
    }
    let values: [Bound<PyAny>; 18] = [
        start.map(|(start, _)| start).into_pyobject(py)?,
        start.map(|(_, step)| step).into_pyobject(py)?,
        progress.began.into_pyobject(py)?,
        start.and(progress.now).into_pyobject(py)?,
        series.into_any(),
        firsts.into_any(),
        changes.into_any(),
        left_out.into_any(),
        touched.into_any(),
        at_end.into_any(),
        timeline.replicas().into_pyobject(py)?.into_any(),
        loss_tuples(py, &losses.partitions)?.into_any(),
        left_out_of(&losses.partitions)
            .into_pyobject(py)?
            .into_any(),
        loss_tuples(py, &losses.topics)?.into_any(),
        left_out_of(&losses.topics).into_pyobject(py)?.into_any(),
        progress.odd.into_pyobject(py)?.into_any(),
        progress.jump.into_pyobject(py)?.into_any(),
        progress.first_odd.into_pyobject(py)?.into_any(),
    ];
    PyTuple::new(py, values)
}

fn left_out_of(worst: &Worst) -> usize {
    worst.total - worst.losses.len()
}

/// The fields of a `kraftops.engine.timeline_contract.Loss` each.
fn loss_tuples<'py>(py: Python<'py>, worst: &Worst) -> PyResult<Bound<'py, PyList>> {
    let tuples = worst.losses.iter().map(|loss| {
        let [offline, under_min_isr, under_replicated] = loss.lost;
        (
            &*loss.topic,
            loss.number,
            loss.is_deleted,
            offline,
            under_min_isr,
            under_replicated,
            loss.elections,
            loss.isr_changes,
            loss.address,
        )
            .into_pyobject(py)
    });
    PyList::new(py, tuples.collect::<PyResult<Vec<_>>>()?)
}

fn inner<'py>(
    py: Python<'py>,
    table: &super::ordered_map::OrderedMap<String, u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let addresses = PyDict::new(py);
    for (key, address) in table.in_order() {
        addresses.set_item(key, address)?;
    }
    Ok(addresses)
}

fn entity_of<'py>(py: Python<'py>, entity: &QuotaEntity) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, entity)
}
