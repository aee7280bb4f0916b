//! The figures of a message, in a halt of the ledger and in safety events of the journal.

use serde::{Deserialize, Serialize};

use andon_core::domain::detail::Figures;
use andon_core::format::{Count, bounded};

const MAX_TOOL: usize = 1024;

/// The figures of either kind of [`Figures`].
#[derive(Debug, Serialize, Deserialize, Default)]
#[serde(expecting = "an object")]
pub(super) struct FiguresWire {
    tool: Option<String>,
    signature: Option<String>,
    count: Option<Count>,
    percent: Option<Count>,
    threshold: Option<Count>,
    code_modified: Option<bool>,
    tests_run: Option<bool>,
    tests_passing: Option<bool>,
    docs_updated: Option<bool>,
}

impl FiguresWire {
    /// With numbers of at most `max`.
    pub(super) fn of(figures: &Figures, max: u64) -> Option<Self> {
        let number = |number: u64| Some(Count(number.min(max)));
        match figures {
            Figures::Unreported => None,
            Figures::Calls { tool, signature, count } => Some(Self {
                tool: Some(bounded(tool, MAX_TOOL)),
                signature: signature.as_deref().map(|text| bounded(text, MAX_TOOL)),
                count: number(*count),
                ..Self::default()
            }),
            Figures::Bits { code_modified, tests_run, tests_passing, docs_updated } => Some(Self {
                code_modified: *code_modified,
                tests_run: *tests_run,
                tests_passing: *tests_passing,
                docs_updated: *docs_updated,
                ..Self::default()
            }),
            Figures::Fill { percent, threshold } => {
                Some(Self { percent: number(*percent), threshold: number(*threshold), ..Self::default() })
            }
        }
    }

    /// Figures that this version does not know are left out.
    pub fn read(reported: Option<Self>) -> Figures {
        match reported {
            Some(Self { tool: Some(tool), signature, count: Some(Count(count)), .. }) => {
                Figures::Calls { tool, signature, count }
            }
            Some(Self { percent: Some(Count(percent)), threshold: Some(Count(threshold)), .. }) => {
                Figures::Fill { percent, threshold }
            }
            Some(Self { code_modified, tests_run, tests_passing, docs_updated, .. })
                if [code_modified, tests_run, tests_passing, docs_updated] != [None; 4] =>
            {
                Figures::Bits { code_modified, tests_run, tests_passing, docs_updated }
            }
            Some(Self { .. }) | None => Figures::Unreported,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_back_and_others_are_untold() {
        let calls =
            Figures::Calls { tool: "Edit".into(), signature: Some("Edit(file=a.rs)".into()), count: 5 };
        let bits = Figures::Bits {
            code_modified: Some(false),
            tests_run: Some(true),
            tests_passing: None,
            docs_updated: None,
        };
        for figures in [calls, bits, Figures::Fill { percent: 86, threshold: 85 }] {
            let text = serde_json::to_string(&FiguresWire::of(&figures, 99)).unwrap();
            let read = serde_json::from_str(&text).unwrap();
            assert_eq!(FiguresWire::read(Some(read)), figures, "{text}");
        }
        assert!(FiguresWire::of(&Figures::Unreported, 99).is_none());
        let later = serde_json::from_str(r#"{"tool":"a","rate":7}"#).unwrap();
        assert_eq!(FiguresWire::read(Some(later)), Figures::Unreported);
    }
}
