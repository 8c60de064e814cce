//! The hub as the use cases know it.

use od_ports::event_sink::{Event, EventSink};

use super::hub::EventHub;

impl EventSink for EventHub {
    fn publish(&self, event: Event) {
        let data = match &event {
            Event::Artifact(event) => serde_json::to_string(event),
            Event::Refresh(event) => serde_json::to_string(event),
        };
        let data = data.expect("events are plain structures of strings");
        self.send(event.project().as_str(), event.name(), &data);
    }
}
