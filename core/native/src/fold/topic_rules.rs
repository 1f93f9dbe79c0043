//! The rules of records of topics and partitions, as in Kafka's `TopicsDelta` and `TopicDelta`.
use super::partition::{Changes, Partition, flag, slot};
use super::topics::{Id, Topic};
use super::watch::{KeyPart, TableName};
use super::{Applied, Fold, UNKNOWN_PARTITION, UNKNOWN_TOPIC, WRONG_COUNT, text_of};
use crate::plan::LocatedFields;
use std::sync::Arc;

/// Slots of TopicRecord and RemoveTopicRecord.
pub const TOPIC_ID: usize = 0;
const TOPIC_NAME: usize = 1;
/// The slot of ClearElrRecord.
const CLEARED_NAME: usize = 0;
/// The fields that few changes have.
const RARE: [usize; 6] = [
    slot::REPLICAS,
    slot::REMOVING,
    slot::ADDING,
    slot::DIRECTORIES,
    slot::ELR,
    slot::LAST_KNOWN_ELR,
];
const KEPT_RECOVERY: i8 = -1;

fn partition_key(topic: Id, number: i32) -> Vec<KeyPart> {
    vec![KeyPart::Id(topic), KeyPart::Int(number.into())]
}

/// Put the fields of a change that few changes have into its partition.
fn put_rare(fields: &LocatedFields, partition: &mut Partition, changes: &mut Changes) {
    let rare = changes.rare();
    if let Some(count) = fields.size(slot::REPLICAS) {
        partition.set_replicas(count);
    }
    let put = |list: &mut Option<Box<[i32]>>, field: usize| {
        if fields.has(field) {
            *list = Some(fields.ids(field).collect());
        }
    };
    put(&mut rare.replicas, slot::REPLICAS);
    put(&mut rare.removing, slot::REMOVING);
    put(&mut rare.adding, slot::ADDING);
    put(&mut rare.elr, slot::ELR);
    put(&mut rare.last_known_elr, slot::LAST_KNOWN_ELR);
    if fields.has(slot::DIRECTORIES) {
        rare.directories = Some(fields.uuids(slot::DIRECTORIES).collect());
    }
}

impl Fold {
    pub(super) fn put_topic(&mut self, fields: &LocatedFields, address: u64) -> Applied {
        let id = fields.uuid(TOPIC_ID).unwrap_or_default();
        let name: Arc<str> = text_of(fields, TOPIC_NAME).into();
        let had_name = self.topics.has_name(&name);
        self.unit.names.entry(Arc::clone(&name)).or_insert(had_name);
        let old = self.drop_topic(&id);
        let namesake = self.topics.of_name(&name);
        let namesake = namesake.and_then(|id| self.topics.get(&id).map(|topic| topic.address));
        self.topics.add(id, Arc::clone(&name), address);
        let before = old.as_ref().map(|topic| topic.address);
        let after = Some(address);
        self.watch
            .note(TableName::Topics, before, after, || vec![KeyPart::Id(id)]);
        self.watch.note(TableName::TopicNames, namesake, after, || {
            vec![KeyPart::text(&name)]
        });
        self.topics.removed = old;
        Ok(())
    }

    /// Remove a topic and its partitions.
    fn drop_topic(&mut self, id: &Id) -> Option<Topic> {
        let old_name = self.topics.get(id).map(|topic| Arc::clone(&topic.name));
        let is_named = old_name
            .as_ref()
            .is_some_and(|name| self.topics.of_name(name) == Some(*id));
        let topic = self.topics.remove(id);
        self.unit.topics.entry(*id).or_insert(old_name);
        let topic = topic?;
        self.unit
            .names
            .entry(Arc::clone(&topic.name))
            .or_insert(true);
        if self.watch.has(TableName::Partitions) {
            for (number, partition) in topic.partitions() {
                let before = Some(partition.address());
                self.watch.note(TableName::Partitions, before, None, || {
                    partition_key(*id, number)
                });
            }
        }
        if is_named {
            let before = Some(topic.address);
            self.watch.note(TableName::TopicNames, before, None, || {
                vec![KeyPart::text(&topic.name)]
            });
        }
        Some(topic)
    }

    pub(super) fn remove_topic(&mut self, fields: &LocatedFields) -> Applied {
        let id = fields.uuid(TOPIC_ID).unwrap_or_default();
        let topic = self.drop_topic(&id);
        // A topic that this unit has removed may be removed again.
        let name = match &topic {
            Some(topic) => Some(Arc::clone(&topic.name)),
            None => self.unit.topics.get(&id).cloned().flatten(),
        };
        let Some(name) = name else {
            return Err(UNKNOWN_TOPIC.into());
        };
        if let Some(topic) = topic {
            let before = Some(topic.address);
            self.watch
                .note(TableName::Topics, before, None, || vec![KeyPart::Id(id)]);
            self.topics.removed = Some(topic);
        }
        self.remove_topic_configs(&name);
        Ok(())
    }

    /// Remove a topic's configurations but those of this unit, as Kafka does.
    fn remove_topic_configs(&mut self, name: &str) {
        let resource = (self.limits.topic_resource, name.to_string());
        let is_there = self.configs.has(&resource);
        let was_there = *self
            .unit
            .configs
            .entry(resource.clone())
            .or_insert(is_there);
        if !was_there {
            return;
        }
        let Some(configs) = self.configs.remove(&resource) else {
            return;
        };
        if self.watch.has(TableName::Configs) {
            for (key, address) in configs.in_order() {
                self.watch
                    .note(TableName::Configs, Some(*address), None, || {
                        vec![
                            KeyPart::Int(resource.0.into()),
                            KeyPart::text(&resource.1),
                            KeyPart::text(self.config_names.text(*key)),
                        ]
                    });
            }
        }
    }

    #[inline]
    pub(super) fn put_partition(&mut self, fields: &LocatedFields, address: u64) -> Applied {
        let id = fields.uuid(slot::TOPIC).unwrap_or_default();
        let number = fields.int32(slot::NUMBER).unwrap_or_default();
        let Some(place) = self.topics.find(&id) else {
            return Err(UNKNOWN_TOPIC.into());
        };
        let size = |place: usize| fields.size(place).unwrap_or(0);
        let (replicas, directories) = (size(slot::REPLICAS), size(slot::DIRECTORIES));
        if directories != 0 && directories != replicas {
            return Err(WRONG_COUNT.into());
        }
        self.check_recovery(fields.int8(slot::RECOVERY).unwrap_or(0))?;
        let is_leaderless = fields.int32(slot::LEADER).unwrap_or(0) < 0;
        let has_directories = fields.has_nonzero_uuid(slot::DIRECTORIES);
        let flags = flag::if_so(is_leaderless, flag::LEADERLESS)
            | flag::if_so(size(slot::ADDING) != 0, flag::ADDING)
            | flag::if_so(size(slot::REMOVING) != 0, flag::REMOVING)
            | flag::if_so(size(slot::ELR) != 0, flag::ELR)
            | flag::if_so(size(slot::LAST_KNOWN_ELR) != 0, flag::LAST_KNOWN_ELR)
            | flag::if_so(has_directories, flag::DIRECTORIES);
        let partition = Partition::new(address, flags, replicas, size(slot::ISR));
        let before = self.topics.put(place, number, partition);
        if flags & flag::ADDING != 0 {
            if let Some((_, changes)) = self.topics.changes_for(place, number) {
                changes.rare().adding = Some(fields.ids(slot::ADDING).collect());
            }
        }
        if partition.is_large() {
            if let Some((_, changes)) = self.topics.changes_for(place, number) {
                changes.rare().replicas = Some(fields.ids(slot::REPLICAS).collect());
                changes.set_isr(size(slot::ISR), fields.ids(slot::ISR));
            }
        }
        let before = before.map(|old| old.address());
        self.watch
            .note(TableName::Partitions, before, Some(address), || {
                partition_key(id, number)
            });
        Ok(())
    }

    fn check_recovery(&self, recovery: i8) -> Applied {
        if (0..self.limits.recoveries).contains(&recovery) {
            return Ok(());
        }
        Err(format!("there is no leader recovery state {recovery}").into())
    }

    /// Tell whether a partition has directories after a change.
    #[inline]
    fn has_directories(
        &self,
        fields: &LocatedFields,
        partition: &Partition,
    ) -> Result<bool, &'static str> {
        let old_count = self.topics.replicas(partition);
        let count = fields.size(slot::REPLICAS).unwrap_or(old_count);
        let Some(given) = fields.size(slot::DIRECTORIES) else {
            let has_directories = partition.flags() & flag::DIRECTORIES != 0;
            if has_directories && count != old_count {
                return Err(WRONG_COUNT);
            }
            return Ok(has_directories);
        };
        let has_directories = fields.has_nonzero_uuid(slot::DIRECTORIES);
        let is_needed = has_directories || (given != 0 && fields.has(slot::REPLICAS));
        if is_needed && given != count {
            return Err(WRONG_COUNT);
        }
        Ok(has_directories)
    }

    #[inline]
    pub(super) fn change_partition(&mut self, fields: &LocatedFields, address: u64) -> Applied {
        let id = fields.uuid(slot::TOPIC).unwrap_or_default();
        let number = fields.int32(slot::NUMBER).unwrap_or_default();
        let Some(place) = self.topics.find(&id) else {
            return Err(UNKNOWN_TOPIC.into());
        };
        let Some(partition) = self.topics.at(place).and_then(|topic| topic.get(number)) else {
            return Err(UNKNOWN_PARTITION.into());
        };
        let has_directories = self.has_directories(fields, partition)?;
        let kept_leader = self.limits.kept_leader;
        let leader = fields.int32(slot::LEADER).filter(|id| *id != kept_leader);
        let recovery = fields
            .int8(slot::RECOVERY)
            .filter(|state| *state != KEPT_RECOVERY);
        if let Some(recovery) = recovery {
            self.check_recovery(recovery)?;
        }
        let Some((partition, changes)) = self.topics.changes_for(place, number) else {
            return Err(UNKNOWN_PARTITION.into());
        };
        let before = partition.address();
        let mut flags = partition.flags() & !(flag::DIRECTORIES | flag::UNCERTAIN);
        flags |= flag::if_so(has_directories, flag::DIRECTORIES);
        let mut mark = |place: usize, bit: u8| {
            if let Some(size) = fields.size(place) {
                flags = flags & !bit | flag::if_so(size != 0, bit);
            }
        };
        mark(slot::ADDING, flag::ADDING);
        mark(slot::REMOVING, flag::REMOVING);
        mark(slot::ELR, flag::ELR);
        mark(slot::LAST_KNOWN_ELR, flag::LAST_KNOWN_ELR);
        if let Some(leader) = leader {
            flags = flags & !flag::LEADERLESS | flag::if_so(leader < 0, flag::LEADERLESS);
            changes.set_leader(leader);
        }
        if recovery.is_some() {
            changes.recovery = recovery;
        }
        changes.records = changes.records.saturating_add(1);
        if let Some(size) = fields.size(slot::ISR) {
            partition.set_in_sync(size);
            changes.set_isr(size, fields.ids(slot::ISR));
        }
        if RARE.iter().any(|place| fields.has(*place)) {
            put_rare(fields, partition, changes);
        }
        let had_elr = partition.has_elr();
        partition.put(address, flags);
        let has_elr = partition.has_elr();
        self.topics.note_elr(had_elr, has_elr);
        self.watch
            .note(TableName::Partitions, Some(before), Some(address), || {
                partition_key(id, number)
            });
        Ok(())
    }

    pub(super) fn clear_elr(&mut self, fields: &LocatedFields, address: u64) -> Applied {
        let name = text_of(fields, CLEARED_NAME);
        let mut chosen = Vec::new();
        if name.is_empty() {
            if self.topics.has_any_elr() || self.is_seeded {
                chosen.extend(self.topics.in_order().iter().map(|topic| topic.id));
            }
        } else if let Some(id) = self.topics.of_name(&name) {
            chosen.push(id);
        } else if !self.unit.names.get(&*name).copied().unwrap_or(false) {
            // A topic that this unit has removed may be named.
            return Err("there is no topic with this name".into());
        }
        for id in chosen {
            self.clear_topic_elr(id, address);
        }
        Ok(())
    }

    fn clear_topic_elr(&mut self, id: Id, address: u64) {
        let Some(place) = self.topics.find(&id) else {
            return;
        };
        let numbers: Vec<i32> = self.topics.at(place).map_or(Vec::new(), |topic| {
            let all = topic.partitions();
            let chosen = all.filter(|(_, partition)| self.is_seeded || partition.has_elr());
            chosen.map(|(number, _)| number).collect()
        });
        for number in numbers {
            let Some((partition, changes)) = self.topics.changes_for(place, number) else {
                continue;
            };
            let before = partition.address();
            let flags = partition.flags();
            if partition.has_elr() {
                partition.put(address, flags & !(flag::ANY_ELR | flag::UNCERTAIN));
                changes.rare().elr = Some(Box::default());
                changes.rare().last_known_elr = Some(Box::default());
                changes.records = changes.records.saturating_add(1);
                self.topics.note_elr(true, false);
            } else {
                // A seeded state cannot say whether there was an ELR before the record.
                partition.put(address, flags | flag::UNCERTAIN);
            }
            self.watch
                .note(TableName::Partitions, Some(before), Some(address), || {
                    partition_key(id, number)
                });
        }
    }
}
