//! What each operation does; *fields* are in the order in which the description names them.
use super::rules::{Op, Read};
use super::topics::{self, Partition};
use super::touch::{Entity, Part, TableName};
use super::{Applied, Broker, Fold, UNKNOWN_PARTITION, UNKNOWN_TOPIC, WRONG_COUNT, java_text};
use crate::plan::{Captured, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The slots of partitions and their changes, which have the same.
pub mod slot {
    pub const NUMBER: usize = 0;
    pub const TOPIC: usize = 1;
    pub const REPLICAS: usize = 2;
    pub const ISR: usize = 3;
    pub const REMOVING: usize = 4;
    pub const ADDING: usize = 5;
    pub const LEADER: usize = 6;
    pub const RECOVERY: usize = 7;
    pub const LEADER_EPOCH: usize = 8;
    pub const PARTITION_EPOCH: usize = 9;
    pub const DIRECTORIES: usize = 10;
    pub const ELR: usize = 11;
    pub const LAST_KNOWN_ELR: usize = 12;
}

/// What few changes have.
const RARE: [usize; 6] = [
    slot::REPLICAS,
    slot::REMOVING,
    slot::ADDING,
    slot::DIRECTORIES,
    slot::ELR,
    slot::LAST_KNOWN_ELR,
];

/// The slot of the first field, or of the only one that counts.
const FIRST: usize = 0;
const SECOND: usize = 1;
const THIRD: usize = 2;
const FOURTH: usize = 3;
const KEPT_RECOVERY: i8 = -1;

/// What was said of a broker, by its place in `Broker::said`.
const FENCED: usize = 0;
const SHUTDOWN: usize = 1;
const DIRECTORIES: usize = 2;
const CORDONED: usize = 3;

fn flag(is_so: bool, bit: u8) -> u8 {
    if is_so { bit } else { 0 }
}

fn some_text(fields: &Captured, at: usize) -> String {
    fields.text(at).map(java_text).unwrap_or_default()
}

impl Fold {
    pub(super) fn put_topic(&mut self, fields: &Captured, address: u64) -> Applied {
        let id = fields.uuid(FIRST).unwrap_or_default();
        let name: Arc<str> = some_text(fields, SECOND).into();
        let had = self.topics.has_name(&name);
        self.unit.names.entry(Arc::clone(&name)).or_insert(had);
        let before = self.drop_topic(&id);
        let holder = self.topics.of_name(&name);
        let named = holder.and_then(|id| self.topics.get(&id).map(|topic| topic.address));
        self.topics.add(id, Arc::clone(&name), address);
        let after = Some(address);
        let before = before.map(|topic| topic.address);
        self.watches
            .note(TableName::Topics, before, after, || vec![Part::Id(id)]);
        self.watches.note(TableName::TopicNames, named, after, || {
            vec![Part::text(&name)]
        });
        Ok(())
    }

    /// Take a topic and its partitions out.
    fn drop_topic(&mut self, id: &topics::Id) -> Option<topics::Topic> {
        let named = self.topics.get(id);
        let had = named.map(|topic| Arc::clone(&topic.name));
        let is_named = had
            .as_ref()
            .is_some_and(|name| self.topics.of_name(name) == Some(*id));
        let topic = self.topics.remove(id);
        self.unit.topics.entry(*id).or_insert(had);
        let topic = topic?;
        self.unit
            .names
            .entry(Arc::clone(&topic.name))
            .or_insert(true);
        if self.watches.has(TableName::Partitions) {
            for (number, partition) in topic.partitions() {
                let before = Some(partition.address());
                self.watches.note(TableName::Partitions, before, None, || {
                    vec![Part::Id(*id), Part::Int(number.into())]
                });
            }
        }
        let before = Some(topic.address);
        if is_named {
            self.watches.note(TableName::TopicNames, before, None, || {
                vec![Part::text(&topic.name)]
            });
        }
        Some(topic)
    }

    pub(super) fn remove_topic(&mut self, fields: &Captured) -> Applied {
        let id = fields.uuid(FIRST).unwrap_or_default();
        let topic = self.drop_topic(&id);
        // One that this unit has removed already is removed again.
        let name = match &topic {
            Some(topic) => Some(Arc::clone(&topic.name)),
            None => self.unit.topics.get(&id).cloned().flatten(),
        };
        let Some(name) = name else {
            return Err(UNKNOWN_TOPIC.into());
        };
        if let Some(topic) = topic {
            let before = Some(topic.address);
            self.watches
                .note(TableName::Topics, before, None, || vec![Part::Id(id)]);
        }
        let resource = (self.limits.topic_resource, name.to_string());
        let is_there = self.configs.has(&resource);
        // Configurations that came in this unit stay, as they do in Kafka.
        let had = *self
            .unit
            .configs
            .entry(resource.clone())
            .or_insert(is_there);
        if !had {
            return Ok(());
        }
        let Some(configs) = self.configs.remove(&resource) else {
            return Ok(());
        };
        if self.watches.has(TableName::Configs) {
            for (key, address) in configs.in_order() {
                self.watches
                    .note(TableName::Configs, Some(*address), None, || {
                        vec![
                            Part::Int(resource.0.into()),
                            Part::text(&resource.1),
                            Part::text(key),
                        ]
                    });
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn put_partition(&mut self, fields: &Captured, address: u64) -> Applied {
        let id = fields.uuid(slot::TOPIC).unwrap_or_default();
        let number = fields.int32(slot::NUMBER).unwrap_or_default();
        let Some(at) = self.topics.find(&id) else {
            return Err(UNKNOWN_TOPIC.into());
        };
        let size = |at: usize| fields.size(at).unwrap_or(0);
        let (replicas, directories) = (size(slot::REPLICAS), size(slot::DIRECTORIES));
        if directories != 0 && directories != replicas {
            return Err(WRONG_COUNT.into());
        }
        self.check_recovery(fields.int8(slot::RECOVERY).unwrap_or(0))?;
        let flags = flag(
            fields.int32(slot::LEADER).unwrap_or(0) < 0,
            topics::LEADERLESS,
        ) | flag(size(slot::ADDING) != 0, topics::ADDING)
            | flag(size(slot::REMOVING) != 0, topics::REMOVING)
            | flag(size(slot::ELR) != 0, topics::ELR)
            | flag(size(slot::LAST_KNOWN_ELR) != 0, topics::LAST_KNOWN_ELR)
            | flag(
                fields.has_nonzero_uuid(slot::DIRECTORIES),
                topics::DIRECTORIES,
            );
        let made = Partition::new(address, flags, replicas, size(slot::ISR));
        let before = self.topics.put(at, number, made);
        if made.is_large() {
            if let Some((_, changes)) = self.topics.changes_for(at, number) {
                changes.rare().replicas = Some(fields.ids(slot::REPLICAS).collect());
                changes.set_isr(size(slot::ISR), fields.ids(slot::ISR));
            }
        }
        let before = before.map(|one| one.address());
        self.watches
            .note(TableName::Partitions, before, Some(address), || {
                vec![Part::Id(id), Part::Int(number.into())]
            });
        Ok(())
    }

    fn check_recovery(&self, recovery: i8) -> Applied {
        if (0..self.limits.recoveries).contains(&recovery) {
            return Ok(());
        }
        Err(format!("there is no leader recovery state {recovery}").into())
    }

    #[inline]
    pub(super) fn change_partition(&mut self, fields: &Captured, address: u64) -> Applied {
        let id = fields.uuid(slot::TOPIC).unwrap_or_default();
        let number = fields.int32(slot::NUMBER).unwrap_or_default();
        let Some(at) = self.topics.find(&id) else {
            return Err(UNKNOWN_TOPIC.into());
        };
        let Some(partition) = self.topics.at(at).and_then(|topic| topic.get(number)) else {
            return Err(UNKNOWN_PARTITION.into());
        };
        let replicas = self.topics.replicas(partition);
        let count = fields.size(slot::REPLICAS).unwrap_or(replicas);
        let mut has_directories = partition.flags() & topics::DIRECTORIES != 0;
        if let Some(given) = fields.size(slot::DIRECTORIES) {
            if given != 0 && fields.has(slot::REPLICAS) && given != count {
                return Err(WRONG_COUNT.into());
            }
            has_directories = fields.has_nonzero_uuid(slot::DIRECTORIES);
            if has_directories && given != count {
                return Err(WRONG_COUNT.into());
            }
        } else if has_directories && count != replicas {
            return Err(WRONG_COUNT.into());
        }
        let kept_leader = self.limits.kept_leader;
        let leader = fields.int32(slot::LEADER).filter(|id| *id != kept_leader);
        let recovery = fields
            .int8(slot::RECOVERY)
            .filter(|state| *state != KEPT_RECOVERY);
        if let Some(recovery) = recovery {
            self.check_recovery(recovery)?;
        }
        let Some((partition, changes)) = self.topics.changes_for(at, number) else {
            return Err(UNKNOWN_PARTITION.into());
        };
        let before = partition.address();
        let mut flags = partition.flags() & !(topics::DIRECTORIES | topics::UNCERTAIN);
        flags |= flag(has_directories, topics::DIRECTORIES);
        let mut mark = |at: usize, bit: u8| {
            if let Some(size) = fields.size(at) {
                flags = flags & !bit | flag(size != 0, bit);
            }
        };
        mark(slot::ADDING, topics::ADDING);
        mark(slot::REMOVING, topics::REMOVING);
        mark(slot::ELR, topics::ELR);
        mark(slot::LAST_KNOWN_ELR, topics::LAST_KNOWN_ELR);
        if let Some(leader) = leader {
            flags = flags & !topics::LEADERLESS | flag(leader < 0, topics::LEADERLESS);
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
        if RARE.iter().any(|at| fields.has(*at)) {
            let rare = changes.rare();
            if fields.has(slot::REPLICAS) {
                partition.set_replicas(count);
            }
            let put = |place: &mut Option<Box<[i32]>>, at: usize| {
                if fields.has(at) {
                    *place = Some(fields.ids(at).collect());
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
        let had = partition.has_elr();
        partition.put(address, flags);
        let has = partition.has_elr();
        self.topics.note_elr(had, has);
        self.watches
            .note(TableName::Partitions, Some(before), Some(address), || {
                vec![Part::Id(id), Part::Int(number.into())]
            });
        Ok(())
    }

    pub(super) fn clear_elr(&mut self, fields: &Captured, address: u64) -> Applied {
        let name = some_text(fields, FIRST);
        let mut chosen = Vec::new();
        if name.is_empty() {
            if self.topics.has_any_elr() || self.is_seeded {
                chosen.extend(self.topics.in_order().iter().map(|topic| topic.id));
            }
        } else if let Some(id) = self.topics.of_name(&name) {
            chosen.push(id);
        } else if !self.unit.names.get(&*name).copied().unwrap_or(false) {
            // One that this unit has removed may well be named.
            return Err("there is no topic with this name".into());
        }
        const SOME: u8 = topics::ELR | topics::LAST_KNOWN_ELR;
        for id in chosen {
            let Some(at) = self.topics.find(&id) else {
                continue;
            };
            let numbers: Vec<(i32, bool)> = self.topics.at(at).map_or(Vec::new(), |topic| {
                let has = |one: &Partition| one.flags() & SOME != 0;
                let all = topic.partitions().map(|(number, one)| (number, has(one)));
                all.filter(|(_, has)| *has || self.is_seeded).collect()
            });
            for (number, has_elr) in numbers {
                let before = if has_elr {
                    let Some((partition, changes)) = self.topics.changes_for(at, number) else {
                        continue;
                    };
                    let before = partition.address();
                    partition.put(address, partition.flags() & !(SOME | topics::UNCERTAIN));
                    changes.rare().elr = Some(Box::default());
                    changes.rare().last_known_elr = Some(Box::default());
                    changes.records = changes.records.saturating_add(1);
                    self.topics.note_elr(true, false);
                    before
                } else {
                    // A state from later than the record cannot say whether there was one before.
                    let found = self.topics.changes_for(at, number);
                    let Some((partition, _)) = found else {
                        continue;
                    };
                    let before = partition.address();
                    partition.put(address, partition.flags() | topics::UNCERTAIN);
                    before
                };
                self.watches
                    .note(TableName::Partitions, Some(before), Some(address), || {
                        vec![Part::Id(id), Part::Int(number.into())]
                    });
            }
        }
        Ok(())
    }

    pub(super) fn register_broker(&mut self, fields: &Captured, address: u64) -> Applied {
        let id = fields.int32(FIRST).unwrap_or_default();
        let made = Broker {
            epoch: fields.int64(SECOND).unwrap_or_default(),
            base: address,
            said: [None; 4],
            newest: address,
            records: 1,
        };
        let before = self.brokers.put(id, made).map(|one| one.newest);
        self.watches
            .note(TableName::Brokers, before, Some(address), || {
                vec![Part::Int(id.into())]
            });
        Ok(())
    }

    pub(super) fn unregister_broker(&mut self, fields: &Captured) -> Applied {
        let id = fields.int32(FIRST).unwrap_or_default();
        let before = self.brokers.remove(&id).map(|one| one.newest);
        self.watches.note(TableName::Brokers, before, None, || {
            vec![Part::Int(id.into())]
        });
        Ok(())
    }

    pub(super) fn change_broker(&mut self, op: Op, fields: &Captured, address: u64) -> Applied {
        let id = fields.int32(FIRST).unwrap_or_default();
        let epoch = fields.int64(SECOND).unwrap_or_default();
        let mut said = [op != Op::ChangeBroker, false, false, false];
        if op == Op::ChangeBroker {
            let fenced = fields.int8(THIRD).unwrap_or(0);
            if !(-1..=1).contains(&fenced) {
                return Err(format!("there is no fenced {fenced}").into());
            }
            let shutdown = fields.int8(FOURTH).unwrap_or(0);
            if !(0..=1).contains(&shutdown) {
                return Err(format!("there is no inControlledShutdown {shutdown}").into());
            }
            said[FENCED] = fenced != 0;
            said[SHUTDOWN] = shutdown != 0;
            said[DIRECTORIES] = fields.size(4).unwrap_or(0) != 0;
            said[CORDONED] = fields.has(5);
        }
        let Some(broker) = self.brokers.get_mut(&id) else {
            return Err(format!("there is no broker {id}").into());
        };
        if broker.epoch != epoch {
            let has = broker.epoch;
            return Err(format!("broker {id} has epoch {has}, not {epoch}").into());
        }
        for (place, says) in broker.said.iter_mut().zip(said) {
            if says {
                *place = Some(address);
            }
        }
        let before = std::mem::replace(&mut broker.newest, address);
        broker.records = broker.records.saturating_add(1);
        self.watches
            .note(TableName::Brokers, Some(before), Some(address), || {
                vec![Part::Int(id.into())]
            });
        Ok(())
    }

    pub(super) fn register_controller(&mut self, read: &Read, address: u64) -> Applied {
        let known = 0..self.limits.protocols;
        let mut unknown = None;
        read.plan
            .each_struct(&read.fields, SECOND as u8, |endpoint| {
                let protocol = endpoint.iter().find_map(|(name, value)| match value {
                    Value::Int(protocol) if *name == "securityProtocol" => Some(*protocol),
                    _ => None,
                });
                unknown = unknown.or(protocol.filter(|protocol| !known.contains(protocol)));
            });
        if let Some(protocol) = unknown {
            return Err(format!("there is no security protocol {protocol}").into());
        }
        let id = read.fields.int32(FIRST).unwrap_or_default();
        let before = self.controllers.put(id, address);
        self.watches
            .note(TableName::Controllers, before, Some(address), || {
                vec![Part::Int(id.into())]
            });
        Ok(())
    }

    pub(super) fn put_config(&mut self, fields: &Captured, address: u64) -> Applied {
        let resource = (
            fields.int8(FIRST).unwrap_or_default(),
            some_text(fields, SECOND),
        );
        let key = some_text(fields, THIRD);
        let is_there = self.configs.has(&resource);
        if !self.unit.configs.contains_key(&resource) {
            self.unit.configs.insert(resource.clone(), is_there);
        }
        let parts = || {
            vec![
                Part::Int(resource.0.into()),
                Part::text(&resource.1),
                Part::text(&key),
            ]
        };
        let after = fields.has(FOURTH).then_some(address);
        let watched = self.watches.has(TableName::Configs).then(parts);
        let before = match after {
            Some(_) => self.configs.put_in(&resource, key, address),
            None => self.configs.remove_from(&resource, &key),
        };
        if let Some(parts) = watched {
            self.watches
                .note(TableName::Configs, before, after, || parts);
        }
        Ok(())
    }

    pub(super) fn put_quota(&mut self, read: &Read, address: u64) -> Applied {
        let fields = &read.fields;
        let mut entity: Entity = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        read.plan.each_struct(fields, FIRST as u8, |members| {
            let text = |wanted: &str| match members.iter().find(|(name, _)| *name == wanted) {
                Some((_, Value::Text(raw))) => Some(java_text(raw)),
                _ => None,
            };
            let (kind, name) = (text("entityType").unwrap_or_default(), text("entityName"));
            match places.get(&kind).and_then(|at| entity.get_mut(*at)) {
                Some(known) => known.1 = name,
                None => {
                    places.insert(kind.clone(), entity.len());
                    entity.push((kind, name));
                }
            }
        });
        // As Python sorts texts: by code points.
        entity.sort_by(|one, other| one.0.chars().cmp(other.0.chars()));
        let key = some_text(fields, SECOND);
        let after = (fields.int8(THIRD).unwrap_or(0) == 0).then_some(address);
        let watched = self
            .watches
            .has(TableName::Quotas)
            .then(|| vec![Part::Entity(entity.clone()), Part::text(&key)]);
        let before = match after {
            Some(_) => self.quotas.put_in(&entity, key, address),
            None => self.quotas.remove_from(&entity, &key),
        };
        if let Some(parts) = watched {
            self.watches
                .note(TableName::Quotas, before, after, || parts);
        }
        Ok(())
    }

    pub(super) fn put_acl(&mut self, fields: &Captured, address: u64) -> Applied {
        let id = fields.uuid(FIRST).unwrap_or_default();
        let is_there = self.acls.has(&id);
        self.unit.acls.entry(id).or_insert(is_there);
        let before = self.acls.put(id, address);
        self.watches
            .note(TableName::Acls, before, Some(address), || {
                vec![Part::Id(id)]
            });
        Ok(())
    }

    pub(super) fn remove_acl(&mut self, fields: &Captured) -> Applied {
        let id = fields.uuid(FIRST).unwrap_or_default();
        let is_there = self.acls.has(&id);
        let had = *self.unit.acls.entry(id).or_insert(is_there);
        let before = self.acls.remove(&id);
        if before.is_none() && !had {
            return Err("there is no ACL with this id".into());
        }
        self.watches
            .note(TableName::Acls, before, None, || vec![Part::Id(id)]);
        Ok(())
    }

    pub(super) fn change_scram(&mut self, fields: &Captured, after: Option<u64>) -> Applied {
        let mechanism = fields.int8(FIRST).unwrap_or_default();
        let user = some_text(fields, SECOND);
        let watched = self
            .watches
            .has(TableName::Scram)
            .then(|| vec![Part::Int(mechanism.into()), Part::text(&user)]);
        let before = match after {
            Some(address) => self.scram.put_in(&mechanism, user, address),
            None => self.scram.remove_from(&mechanism, &user),
        };
        if let Some(parts) = watched {
            self.watches.note(TableName::Scram, before, after, || parts);
        }
        Ok(())
    }

    pub(super) fn change_token(&mut self, fields: &Captured, after: Option<u64>) -> Applied {
        let id = some_text(fields, FIRST);
        let watched = self
            .watches
            .has(TableName::Tokens)
            .then(|| vec![Part::text(&id)]);
        let before = match after {
            Some(address) => self.tokens.put(id, address),
            None => self.tokens.remove(&id),
        };
        if let Some(parts) = watched {
            self.watches
                .note(TableName::Tokens, before, after, || parts);
        }
        Ok(())
    }

    pub(super) fn put_feature(&mut self, fields: &Captured, address: u64) -> Applied {
        let name = some_text(fields, FIRST);
        let level = fields.int16(SECOND).unwrap_or_default();
        let (before, after);
        let parts = vec![Part::text(&name)];
        if name == self.limits.version_name {
            if !(self.limits.levels.0..=self.limits.levels.1).contains(&level) {
                return Err(format!("there is no {name} {level}").into());
            }
            before = self.metadata_version.replace((level, address));
            after = Some(address);
        } else if name == self.limits.quorum_name {
            return Ok(());
        } else if level != 0 {
            before = self.features.put(name, (level, address));
            after = Some(address);
        } else {
            before = self.features.remove(&name);
            after = None;
        }
        let before = before.map(|(_, address)| address);
        self.watches
            .note(TableName::Features, before, after, || parts);
        Ok(())
    }
}
