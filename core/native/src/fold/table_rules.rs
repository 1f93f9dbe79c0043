//! The rules of records of all but topics, as in Kafka's `ClusterDelta` and its siblings.
use super::rules::{MetadataRecord, Op};
use super::topic_rules::TOPIC_ID;
use super::watch::{KeyPart, QuotaEntity, TableName};
use super::{Applied, Broker, Fold, java_text, text_of};
use crate::plan::{LocatedFields, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// Slots of records of brokers; a registration and a fencing have the first two alone.
const BROKER_ID: usize = 0;
const BROKER_EPOCH: usize = 1;
const FENCED: usize = 2;
const IN_SHUTDOWN: usize = 3;
const LOG_DIRS: usize = 4;
const CORDONED_LOG_DIRS: usize = 5;
/// Slots of RegisterControllerRecord.
const CONTROLLER_ID: usize = 0;
const ENDPOINTS: usize = 1;
/// Slots of ConfigRecord.
const RESOURCE_TYPE: usize = 0;
const RESOURCE_NAME: usize = 1;
const CONFIG_NAME: usize = 2;
const CONFIG_VALUE: usize = 3;
/// Slots of ClientQuotaRecord.
const ENTITY: usize = 0;
const QUOTA_KEY: usize = 1;
const REMOVE: usize = 2;
/// The slot of the records of ACLs.
const ACL_ID: usize = 0;
/// Slots of the records of SCRAM credentials.
const MECHANISM: usize = 0;
const USER: usize = 1;
/// The slot of the records of delegation tokens.
const TOKEN_ID: usize = 0;
/// Slots of FeatureLevelRecord.
const FEATURE_NAME: usize = 0;
const FEATURE_LEVEL: usize = 1;

fn broker_key(id: i32) -> Vec<KeyPart> {
    vec![KeyPart::Int(id.into())]
}

/// The fields that a BrokerRegistrationChangeRecord changes, in the order of `Broker::changes`.
fn changed_fields(fields: &LocatedFields) -> Result<[bool; 4], String> {
    let fenced = fields.int8(FENCED).unwrap_or(0);
    if !(-1..=1).contains(&fenced) {
        return Err(format!("there is no fenced {fenced}"));
    }
    let shutdown = fields.int8(IN_SHUTDOWN).unwrap_or(0);
    if !(0..=1).contains(&shutdown) {
        return Err(format!("there is no inControlledShutdown {shutdown}"));
    }
    Ok([
        fenced != 0,
        shutdown != 0,
        fields.size(LOG_DIRS).unwrap_or(0) != 0,
        fields.has(CORDONED_LOG_DIRS),
    ])
}

/// The client that a ClientQuotaRecord is for; of several parts of one type, the last name counts.
fn quota_entity(record: &MetadataRecord) -> QuotaEntity {
    let mut entity: QuotaEntity = Vec::new();
    let mut indexes: HashMap<String, usize> = HashMap::new();
    record
        .plan
        .each_struct(&record.fields, ENTITY as u8, |members| {
            let text = |wanted: &str| match members.iter().find(|(name, _)| *name == wanted) {
                Some((_, Value::Text(raw))) => Some(java_text(raw)),
                _ => None,
            };
            let (kind, name) = (text("entityType").unwrap_or_default(), text("entityName"));
            match indexes.get(&kind).and_then(|place| entity.get_mut(*place)) {
                Some(known) => known.1 = name,
                None => {
                    indexes.insert(kind.clone(), entity.len());
                    entity.push((kind, name));
                }
            }
        });
    // As Python sorts texts: by code points.
    entity.sort_by(|pair, other| pair.0.chars().cmp(other.0.chars()));
    entity
}

/// The key of the entry that a record puts; nothing of one that puts none.
pub fn key_of(record: &MetadataRecord) -> Vec<KeyPart> {
    let fields = &record.fields;
    let text = |slot: usize| KeyPart::Text(text_of(fields, slot));
    let int32 = |slot: usize| KeyPart::Int(fields.int32(slot).unwrap_or_default().into());
    let int8 = |slot: usize| KeyPart::Int(fields.int8(slot).unwrap_or_default().into());
    let id = |slot: usize| KeyPart::Id(fields.uuid(slot).unwrap_or_default());
    match record.op {
        Op::PutTopic => vec![id(TOPIC_ID)],
        Op::PutAcl => vec![id(ACL_ID)],
        Op::RegisterBroker | Op::FenceBroker | Op::UnfenceBroker | Op::ChangeBroker => {
            vec![int32(BROKER_ID)]
        }
        Op::RegisterController => vec![int32(CONTROLLER_ID)],
        Op::PutConfig => vec![int8(RESOURCE_TYPE), text(RESOURCE_NAME), text(CONFIG_NAME)],
        Op::PutQuota => vec![KeyPart::Entity(quota_entity(record)), text(QUOTA_KEY)],
        Op::PutScram => vec![int8(MECHANISM), text(USER)],
        Op::PutToken => vec![text(TOKEN_ID)],
        Op::PutFeature => vec![text(FEATURE_NAME)],
        _ => Vec::new(),
    }
}

impl Fold {
    pub(super) fn register_broker(&mut self, fields: &LocatedFields, address: u64) -> Applied {
        let id = fields.int32(BROKER_ID).unwrap_or_default();
        let broker = Broker {
            epoch: fields.int64(BROKER_EPOCH).unwrap_or_default(),
            base: address,
            changes: [None; 4],
            newest: address,
            records: 1,
        };
        let before = self.brokers.put(id, broker).map(|old| old.newest);
        self.watch
            .note(TableName::Brokers, before, Some(address), || broker_key(id));
        Ok(())
    }

    pub(super) fn unregister_broker(&mut self, fields: &LocatedFields) -> Applied {
        let id = fields.int32(BROKER_ID).unwrap_or_default();
        let before = self.brokers.remove(&id).map(|old| old.newest);
        self.watch
            .note(TableName::Brokers, before, None, || broker_key(id));
        Ok(())
    }

    pub(super) fn change_broker(
        &mut self,
        op: Op,
        fields: &LocatedFields,
        address: u64,
    ) -> Applied {
        let id = fields.int32(BROKER_ID).unwrap_or_default();
        let epoch = fields.int64(BROKER_EPOCH).unwrap_or_default();
        let changed = match op {
            Op::ChangeBroker => changed_fields(fields)?,
            _ => [true, false, false, false],
        };
        let Some(broker) = self.brokers.get_mut(&id) else {
            return Err(format!("there is no broker {id}").into());
        };
        if broker.epoch != epoch {
            let known = broker.epoch;
            return Err(format!("broker {id} has epoch {known}, not {epoch}").into());
        }
        for (last, is_changed) in broker.changes.iter_mut().zip(changed) {
            if is_changed {
                *last = Some(address);
            }
        }
        let before = std::mem::replace(&mut broker.newest, address);
        broker.records = broker.records.saturating_add(1);
        self.watch
            .note(TableName::Brokers, Some(before), Some(address), || {
                broker_key(id)
            });
        Ok(())
    }

    pub(super) fn register_controller(&mut self, record: &MetadataRecord, address: u64) -> Applied {
        let known = 0..self.limits.protocols;
        let mut unknown = None;
        record
            .plan
            .each_struct(&record.fields, ENDPOINTS as u8, |endpoint| {
                let protocol = endpoint.iter().find_map(|(name, value)| match value {
                    Value::Int(protocol) if *name == "securityProtocol" => Some(*protocol),
                    _ => None,
                });
                unknown = unknown.or(protocol.filter(|protocol| !known.contains(protocol)));
            });
        if let Some(protocol) = unknown {
            return Err(format!("there is no security protocol {protocol}").into());
        }
        let id = record.fields.int32(CONTROLLER_ID).unwrap_or_default();
        let before = self.controllers.put(id, address);
        self.watch
            .note(TableName::Controllers, before, Some(address), || {
                vec![KeyPart::Int(id.into())]
            });
        Ok(())
    }

    pub(super) fn put_config(&mut self, fields: &LocatedFields, address: u64) -> Applied {
        let resource_type = fields.int8(RESOURCE_TYPE).unwrap_or_default();
        let resource = (resource_type, text_of(fields, RESOURCE_NAME));
        let raw = fields.text(CONFIG_NAME).unwrap_or(b"");
        let name: Cow<str> = match std::str::from_utf8(raw) {
            Ok(text) => text.into(),
            Err(_) => java_text(raw).into(),
        };
        let key = self.watch.key(TableName::Configs, || {
            vec![
                KeyPart::Int(resource.0.into()),
                KeyPart::text(&resource.1),
                KeyPart::text(&name),
            ]
        });
        let after = fields.has(CONFIG_VALUE).then_some(address);
        let before = match (self.configs.get_mut(&resource), after) {
            (Some(table), Some(address)) => table.put(self.config_names.number(&name), address),
            (Some(table), None) => {
                let number = self.config_names.known(&name);
                let before = number.and_then(|number| table.remove(&number));
                if table.is_empty() {
                    self.configs.remove(&resource);
                    self.unit.configs.entry(resource).or_insert(true);
                }
                before
            }
            (None, after) => {
                // While a resource is there, nothing needs to know that it was before.
                self.unit.configs.entry(resource.clone()).or_insert(false);
                after.and_then(|address| {
                    let number = self.config_names.number(&name);
                    self.configs.put_in(&resource, number, address)
                })
            }
        };
        self.watch.note_key(TableName::Configs, before, after, key);
        Ok(())
    }

    pub(super) fn put_quota(&mut self, record: &MetadataRecord, address: u64) -> Applied {
        let fields = &record.fields;
        let entity = quota_entity(record);
        let name = text_of(fields, QUOTA_KEY);
        let key = self.watch.key(TableName::Quotas, || {
            vec![KeyPart::Entity(entity.clone()), KeyPart::text(&name)]
        });
        let after = (fields.int8(REMOVE).unwrap_or(0) == 0).then_some(address);
        let before = match after {
            Some(_) => self.quotas.put_in(&entity, name, address),
            None => self.quotas.remove_from(&entity, &name),
        };
        self.watch.note_key(TableName::Quotas, before, after, key);
        Ok(())
    }

    pub(super) fn put_acl(&mut self, fields: &LocatedFields, address: u64) -> Applied {
        let id = fields.uuid(ACL_ID).unwrap_or_default();
        let is_there = self.acls.has(&id);
        self.unit.acls.entry(id).or_insert(is_there);
        let before = self.acls.put(id, address);
        self.watch.note(TableName::Acls, before, Some(address), || {
            vec![KeyPart::Id(id)]
        });
        Ok(())
    }

    pub(super) fn remove_acl(&mut self, fields: &LocatedFields) -> Applied {
        let id = fields.uuid(ACL_ID).unwrap_or_default();
        let is_there = self.acls.has(&id);
        let was_there = *self.unit.acls.entry(id).or_insert(is_there);
        let before = self.acls.remove(&id);
        if before.is_none() && !was_there {
            return Err("there is no ACL with this id".into());
        }
        self.watch
            .note(TableName::Acls, before, None, || vec![KeyPart::Id(id)]);
        Ok(())
    }

    pub(super) fn change_scram(&mut self, fields: &LocatedFields, after: Option<u64>) -> Applied {
        let mechanism = fields.int8(MECHANISM).unwrap_or_default();
        let user = text_of(fields, USER);
        let key = self.watch.key(TableName::Scram, || {
            vec![KeyPart::Int(mechanism.into()), KeyPart::text(&user)]
        });
        let before = match after {
            Some(address) => self.scram.put_in(&mechanism, user, address),
            None => self.scram.remove_from(&mechanism, &user),
        };
        self.watch.note_key(TableName::Scram, before, after, key);
        Ok(())
    }

    pub(super) fn change_token(&mut self, fields: &LocatedFields, after: Option<u64>) -> Applied {
        let id = text_of(fields, TOKEN_ID);
        let key = self
            .watch
            .key(TableName::Tokens, || vec![KeyPart::text(&id)]);
        let before = match after {
            Some(address) => self.tokens.put(id, address),
            None => self.tokens.remove(&id),
        };
        self.watch.note_key(TableName::Tokens, before, after, key);
        Ok(())
    }

    pub(super) fn put_feature(&mut self, fields: &LocatedFields, address: u64) -> Applied {
        let name = text_of(fields, FEATURE_NAME);
        let level = fields.int16(FEATURE_LEVEL).unwrap_or_default();
        let is_version = name == self.limits.version_name;
        if is_version && !(self.limits.levels.0..=self.limits.levels.1).contains(&level) {
            return Err(format!("there is no {name} {level}").into());
        }
        if name == self.limits.quorum_name {
            return Ok(());
        }
        let key = self
            .watch
            .key(TableName::Features, || vec![KeyPart::text(&name)]);
        let after = (is_version || level != 0).then_some(address);
        let before = if is_version {
            self.metadata_version.replace((level, address))
        } else if level != 0 {
            self.features.put(name, (level, address))
        } else {
            self.features.remove(&name)
        };
        let before = before.map(|(_, address)| address);
        self.watch.note_key(TableName::Features, before, after, key);
        Ok(())
    }

    pub(super) fn put_producer_ids(&mut self, address: u64) -> Applied {
        let before = self.producer_ids.replace(address);
        self.watch
            .note(TableName::ProducerIds, before, Some(address), Vec::new);
        Ok(())
    }
}
