//! The figures of a halt in an `entry.json`.

use serde::{Deserialize, Serialize};

use crate::domain::detail::Figures;

/// The figures of either kind of [`Figures`].
#[derive(Serialize, Deserialize, Default)]
pub(super) struct FiguresWire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    percent: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<u64>,
}

impl FiguresWire {
    /// With numbers of at most `max`.
    pub(super) fn of(figures: &Figures, max: u64) -> Option<Self> {
        let number = |number: u64| Some(number.min(max));
        match figures {
            Figures::Untold => None,
            Figures::Calls { tool, count } => {
                Some(Self { tool: Some(tool.clone()), count: number(*count), ..Self::default() })
            }
            Figures::Fill { percent, threshold } => {
                Some(Self { percent: number(*percent), threshold: number(*threshold), ..Self::default() })
            }
        }
    }

    /// What this version does not know is not told.
    pub(super) fn read(self) -> Figures {
        match self {
            Self { tool: Some(tool), count: Some(count), .. } => Figures::Calls { tool, count },
            Self { percent: Some(percent), threshold: Some(threshold), .. } => {
                Figures::Fill { percent, threshold }
            }
            Self { .. } => Figures::Untold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_back_and_others_are_untold() {
        let calls = Figures::Calls { tool: "mcp: search".into(), count: 5 };
        for figures in [calls, Figures::Fill { percent: 86, threshold: 85 }] {
            let text = serde_json::to_string(&FiguresWire::of(&figures, 99)).unwrap();
            assert_eq!(serde_json::from_str::<FiguresWire>(&text).unwrap().read(), figures, "{text}");
        }
        assert!(FiguresWire::of(&Figures::Untold, 99).is_none());
        let later: FiguresWire = serde_json::from_str(r#"{"tool":"a","rate":7}"#).unwrap();
        assert_eq!(later.read(), Figures::Untold);
    }
}
