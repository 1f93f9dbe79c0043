//! The classes `Rules` and `Fold` for Python, and the values that they return; each has the name and
//! the fields of one in the contracts of `kraftops.engine`.
use super::index::{RecordGroup, index};
use super::partition_state::{Batches, PartitionState};
use super::rules::Rules;
use super::timeline::{Buckets, COUNTS, LEVELS, Loss, Timeline, TimelineRequest};
use super::topics::{Id, Topic, Topics};
use super::watch::{PyEntryChange, QuotaEntity, Watch, table_name};
use super::window::{BatchBounds, BatchHead, WindowResult};
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

    /// Return the groups of similar records.
    fn index(
        &self,
        py: Python,
        data: &[u8],
        position: usize,
        number: i64,
        stop: i64,
    ) -> PyResult<Vec<RecordGroup>> {
        guarded(|| py.detach(|| index(&self.0, data, position, number, stop)))
    }
}

#[pyclass(name = "Fold")]
pub struct PyFold {
    fold: Fold,
    fetch: Py<PyAny>,
}

/// See `kraftops.engine.metadata_state.NewestRecord`.
#[pyclass(frozen, get_all)]
#[derive(Clone, Copy)]
pub struct NewestRecord {
    pub address: u64,
    pub records: u32,
    pub is_certain: bool,
}

/// See `kraftops.engine.metadata_state.BrokerEntry`.
#[pyclass(frozen, get_all)]
pub struct BrokerEntry {
    id: i32,
    epoch: i64,
    addresses: Vec<u64>,
    newest: NewestRecord,
}

/// See `kraftops.engine.metadata_state.Tables`; Kafka has no records of failed replicas.
#[pyclass(frozen, get_all)]
pub struct Tables {
    controllers: Py<PyDict>,
    failed_replicas: Py<PyDict>,
    configs: Py<PyDict>,
    quotas: Py<PyDict>,
    acls: Py<PyDict>,
    scram: Py<PyDict>,
    tokens: Py<PyDict>,
    features: Py<PyDict>,
    metadata_version: Option<(i16, u64)>,
    producer_ids: Option<u64>,
}

/// See `kraftops.engine.metadata_state.ClusterTables`.
#[pyclass(frozen, get_all)]
pub struct ClusterTables {
    controllers: Py<PyDict>,
    features: Py<PyDict>,
    metadata_version: Option<(i16, u64)>,
    producer_ids: Option<u64>,
}

/// See `kraftops.engine.timeline_contract.TimedChange`.
#[pyclass(frozen, get_all)]
pub struct TimedChange {
    time: i64,
    address: u64,
    change: Py<PyEntryChange>,
}

/// See `kraftops.engine.timeline_contract.Timeline`.
#[pyclass(frozen, get_all, name = "Timeline")]
pub struct PyTimeline {
    start: Option<i64>,
    step: Option<i64>,
    began: Option<i64>,
    end: Option<i64>,
    series: Py<PyDict>,
    firsts: Py<PyDict>,
    changes: Py<PyList>,
    left_out: Py<PyDict>,
    touched: Py<PyDict>,
    levels: Py<PyDict>,
    replicas: usize,
    partitions: Vec<Loss>,
    partitions_left_out: usize,
    topics: Vec<Loss>,
    topics_left_out: usize,
    odd: u64,
    jump: i64,
    first_odd: Option<u64>,
}

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

    fn apply(
        &mut self,
        py: Python,
        data: &[u8],
        address: u64,
        position: usize,
        number: i64,
        stop: i64,
    ) -> PyResult<FoldProgress> {
        let fold = &mut self.fold;
        let work = || fold.apply(data, address, position, number, stop);
        guarded(|| py.detach(work))
    }

    fn skim(
        &self,
        py: Python,
        data: &[u8],
        position: usize,
        number: i64,
        stop: i64,
    ) -> PyResult<FoldProgress> {
        guarded(|| py.detach(|| self.fold.skim(data, position, number, stop)))
    }

    /// Apply ordinary batches.
    fn apply_window(
        &mut self,
        py: Python,
        window: &[u8],
        start: usize,
        first: u64,
        bounds: BatchBounds,
    ) -> PyResult<WindowResult> {
        let fold = &mut self.fold;
        guarded(|| py.detach(|| fold.apply_window(window, start, first, bounds)))
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

    fn changes(&self, py: Python) -> PyResult<Vec<PyEntryChange>> {
        let changes = self.fold.watch.changes.iter();
        changes.map(|change| change.to_python(py)).collect()
    }

    /// Make a timeline.
    fn keep_time(
        &mut self,
        py: Python,
        request: TimelineRequest,
        tables: Vec<String>,
    ) -> PyResult<()> {
        let limits = &self.fold.limits;
        let steps = request.steps.clone();
        let buckets = Buckets::new(steps, request.buckets, limits.most_brokers);
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

    /// Return the timeline, and free its memory.
    fn end_timeline(&mut self, py: Python) -> PyResult<Option<PyTimeline>> {
        let Some(timeline) = self.fold.timeline.take() else {
            return Ok(None);
        };
        self.fold.watch = Watch::default();
        let changes = timeline.changes();
        let addresses: Vec<u64> = changes.iter().map(|change| change.change.keyed()).collect();
        let mut batches = Batches::new(py, &self.fetch);
        let keys = self.fold.keys_of(&addresses, &mut batches)?;
        let list = PyList::empty(py);
        for (kept, key) in changes.iter().zip(&keys) {
            list.append(TimedChange {
                time: kept.time,
                address: kept.address,
                change: Py::new(py, kept.change.with_key(py, key)?)?,
            })?;
        }
        timeline_of(py, &timeline, &self.fold.topics, list).map(Some)
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

    fn newest(&self, topic_id: &[u8], number: i32) -> PyResult<Option<NewestRecord>> {
        let topic = self.fold.topics.get(&id_of(topic_id)?);
        let partition = topic.and_then(|topic| topic.get(number));
        Ok(partition.map(|partition| self.fold.newest_of(partition)))
    }

    fn newest_below(
        &self,
        topic_id: Option<&[u8]>,
        exact: Option<PyRef<PyFold>>,
    ) -> PyResult<Option<NewestRecord>> {
        let id = topic_id.map(id_of).transpose()?;
        let exact = exact.as_ref().map(|other| &other.fold);
        Ok(self.fold.newest_below(id.as_ref(), exact))
    }

    fn partition(
        &self,
        py: Python,
        topic_id: &[u8],
        number: i32,
    ) -> PyResult<Option<PartitionState>> {
        let topic = self.fold.topics.get(&id_of(topic_id)?);
        let Some(partition) = topic.and_then(|topic| topic.get(number)) else {
            return Ok(None);
        };
        let mut batches = Batches::new(py, &self.fetch);
        self.fold.state_of(partition, &mut batches).map(Some)
    }

    fn partitions(&self, py: Python, topic_id: &[u8]) -> PyResult<Vec<(i32, PartitionState)>> {
        let Some(topic) = self.fold.topics.get(&id_of(topic_id)?) else {
            return Ok(Vec::new());
        };
        let mut batches = Batches::new(py, &self.fetch);
        let mut partitions = Vec::new();
        for (number, partition) in topic.partitions() {
            partitions.push((number, self.fold.state_of(partition, &mut batches)?));
        }
        Ok(partitions)
    }

    /// Return the states of partitions, in this order; each batch is fetched once.
    fn states(
        &self,
        py: Python,
        chosen: Vec<(Vec<u8>, i32)>,
    ) -> PyResult<Vec<Option<PartitionState>>> {
        let mut places = Vec::with_capacity(chosen.len());
        for (state_place, (id, number)) in chosen.iter().enumerate() {
            let topic = self.fold.topics.get(&id_of(id)?);
            if let Some(partition) = topic.and_then(|topic| topic.get(*number)) {
                places.push((self.fold.base_of(partition), state_place, partition));
            }
        }
        places.sort_unstable_by_key(|(base, ..)| *base);
        let mut states: Vec<_> = chosen.iter().map(|_| None).collect();
        let mut batches = Batches::new(py, &self.fetch);
        for (_, state_place, partition) in places {
            let state = self.fold.state_of(partition, &mut batches)?;
            if let Some(place) = states.get_mut(state_place) {
                *place = Some(state);
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

    fn under_min_isr<'py>(
        &self,
        py: Python<'py>,
        needed: HashMap<Vec<u8>, u64>,
        usual: u64,
    ) -> PyResult<ByTopic<'py>> {
        let needed = needed.iter().map(|(id, count)| Ok((id_of(id)?, *count)));
        let needed: HashMap<Id, u64> = needed.collect::<PyResult<_>>()?;
        let partitions = py.detach(|| self.fold.under_min_isr(&needed, usual));
        Ok(by_topic(py, partitions))
    }

    fn state_columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut batches = Batches::new(py, &self.fetch);
        self.fold.state_columns(&mut batches)?.into_python(py)
    }

    fn brokers(&self) -> Vec<BrokerEntry> {
        let brokers = self.fold.brokers.in_order().into_iter();
        brokers
            .map(|(id, broker)| {
                let mut addresses: Vec<u64> = broker.changes.iter().flatten().copied().collect();
                addresses.push(broker.base);
                addresses.sort_unstable();
                addresses.dedup();
                BrokerEntry {
                    id: *id,
                    epoch: broker.epoch,
                    addresses,
                    newest: NewestRecord {
                        address: broker.newest,
                        records: broker.records,
                        is_certain: true,
                    },
                }
            })
            .collect()
    }

    fn tables(&self, py: Python) -> PyResult<Tables> {
        let fold = &self.fold;
        let cluster = self.cluster_tables(py)?;
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
        Ok(Tables {
            controllers: cluster.controllers,
            failed_replicas: PyDict::new(py).unbind(),
            configs: configs.unbind(),
            quotas: quotas.unbind(),
            acls: acls.unbind(),
            scram: scram.unbind(),
            tokens: tokens.unbind(),
            features: cluster.features,
            metadata_version: cluster.metadata_version,
            producer_ids: cluster.producer_ids,
        })
    }

    fn cluster_tables(&self, py: Python) -> PyResult<ClusterTables> {
        let fold = &self.fold;
        let controllers = PyDict::new(py);
        for (id, address) in fold.controllers.in_order() {
            controllers.set_item(id, address)?;
        }
        let features = PyDict::new(py);
        for (name, level) in fold.features.in_order() {
            features.set_item(name, *level)?;
        }
        Ok(ClusterTables {
            controllers: controllers.unbind(),
            features: features.unbind(),
            metadata_version: fold.metadata_version,
            producer_ids: fold.producer_ids,
        })
    }
}

/// Add the classes of the values that folds return.
pub fn add_values(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<BatchHead>()?;
    module.add_class::<BrokerEntry>()?;
    module.add_class::<ClusterTables>()?;
    module.add_class::<FoldProgress>()?;
    module.add_class::<Loss>()?;
    module.add_class::<NewestRecord>()?;
    module.add_class::<PartitionState>()?;
    module.add_class::<PyEntryChange>()?;
    module.add_class::<PyTimeline>()?;
    module.add_class::<RecordGroup>()?;
    module.add_class::<Tables>()?;
    module.add_class::<TimedChange>()?;
    module.add_class::<WindowResult>()
}

fn timeline_of(
    py: Python,
    timeline: &Timeline,
    topics: &Topics,
    changes: Bound<PyList>,
) -> PyResult<PyTimeline> {
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
    let losses = py.detach(|| timeline.losses(topics));
    let touched = PyDict::new(py);
    for (name, count) in LEVELS.iter().zip(losses.touched) {
        touched.set_item(name, count)?;
    }
    let at_end = PyDict::new(py);
    for (name, count) in LEVELS.iter().zip(progress.levels) {
        at_end.set_item(name, count)?;
    }
    Ok(PyTimeline {
        start: start.map(|(start, _)| start),
        step: start.map(|(_, step)| step),
        began: progress.began,
        end: start.and(progress.now),
        series: series.unbind(),
        firsts: firsts.unbind(),
        changes: changes.unbind(),
        left_out: left_out.unbind(),
        touched: touched.unbind(),
        levels: at_end.unbind(),
        replicas: topics
            .iter()
            .flat_map(Topic::partitions)
            .map(|(_, partition)| topics.replicas(partition))
            .sum(),
        partitions_left_out: losses.partitions.total - losses.partitions.losses.len(),
        partitions: losses.partitions.losses,
        topics_left_out: losses.topics.total - losses.topics.losses.len(),
        topics: losses.topics.losses,
        odd: progress.odd,
        jump: progress.jump,
        first_odd: progress.first_odd,
    })
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
