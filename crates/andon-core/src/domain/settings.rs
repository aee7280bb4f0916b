//! Settings of rules as values: what `config` resolves and `detect` reads.

use std::{borrow::Cow, collections::BTreeMap, marker::PhantomData};

use super::{Level, Span};
use crate::WordList;

/// The value of a rule's parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParamValue {
    /// A whole number of at least zero.
    Count(u64),
    /// A share between 0 and 1.
    Share(f64),
    /// A duration in whole seconds.
    Span(Span),
    /// A whole number of at least one, or no limit.
    Limit(Option<u64>),
    /// A duration, or no limit.
    SpanLimit(Option<Span>),
    /// A switch, for parameters whose meaning is yes or no.
    Switch(bool),
    /// A list of texts.
    List(Vec<String>),
    /// One of some words, which are `of`.
    Word { is: &'static str, of: &'static [&'static str] },
}

/// A parameter of any type as configuration sees it.
#[derive(Debug, Clone, Copy)]
pub struct ParamSpec {
    /// Key in `[rules]`, `snake_case`.
    pub name: &'static str,
    /// Default value; also fixes the type.
    default: Default,
    /// The default in a declared workflow, where that is another one.
    declared: Option<Default>,
    /// Smallest count allowed, for counts.
    pub min: u64,
    /// Largest count allowed: as far as its rule looks.
    pub max: u64,
    /// True for a percentage: those of a rule rise as they are declared.
    pub rises: bool,
    /// The effect of a larger value, for counts.
    pub sense: Sense,
}

impl ParamSpec {
    /// The length of the shortest window that a rule reads.
    pub const WINDOW: u64 = 64;
    /// Beyond any use, and near enough that nothing sized by it runs away.
    pub const ANY: u64 = 1_000_000_000;

    pub fn default(&self) -> ParamValue {
        self.default.value()
    }

    /// The default value in a declared workflow, where that is another one.
    pub fn in_workflow(&self) -> Option<ParamValue> {
        self.declared.map(Default::value)
    }
}

impl Default {
    fn value(self) -> ParamValue {
        match self {
            Self::Count(count) => ParamValue::Count(count),
            Self::Share(share) => ParamValue::Share(share),
            Self::Span(span) => ParamValue::Span(span),
            Self::Limit(limit) => ParamValue::Limit(limit),
            Self::SpanLimit(limit) => ParamValue::SpanLimit(limit),
            Self::Switch(switch) => ParamValue::Switch(switch),
            Self::List(list) => ParamValue::List(list.iter().map(str::to_owned).collect()),
            Self::Word { is, of } => ParamValue::Word { is, of },
        }
    }
}

/// A [`ParamValue`] that can be written down in a constant.
#[derive(Debug, Clone, Copy)]
enum Default {
    Count(u64),
    Share(f64),
    Span(Span),
    Limit(Option<u64>),
    SpanLimit(Option<Span>),
    Switch(bool),
    List(WordList),
    Word { is: &'static str, of: &'static [&'static str] },
}

/// The effect of a larger count on the halts of its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// They come later, or never.
    Later,
    /// It is a window: more is looked at, and more found.
    Wider,
    /// Nothing: it is for warnings alone.
    Warns,
}

/// A parameter of type `T`, declared once in the file of its rule. It is read by naming the declaration, so that a
/// misspelt name does not compile.
#[derive(Debug)]
pub struct Param<T> {
    /// The specification of the parameter, as configuration knows it.
    pub spec: ParamSpec,
    kind: PhantomData<fn() -> T>,
}

/// The type of a parameter that is one of some words.
#[derive(Debug)]
pub enum Word {}

impl<T> Param<T> {
    const fn new(name: &'static str, default: Default, min: u64) -> Self {
        let (rises, sense, max) = (false, Sense::Later, ParamSpec::ANY);
        let spec = ParamSpec { name, default, declared: None, min, max, rises, sense };
        Self { spec, kind: PhantomData }
    }
}

impl Param<u64> {
    /// A whole number of at least `min`, of what is looked at in a window: at most [`ParamSpec::WINDOW`].
    pub const fn count(name: &'static str, default: u64, min: u64) -> Self {
        let mut param = Self::total(name, default, min);
        param.spec.max = ParamSpec::WINDOW;
        param
    }

    /// A whole number of at least `min` that is compared with a running total or a size: no window bounds it.
    pub const fn total(name: &'static str, default: u64, min: u64) -> Self {
        Self::new(name, Default::Count(default), min)
    }

    /// The same, where a larger value has another effect than a later halt.
    #[must_use]
    pub const fn sense(mut self, sense: Sense) -> Self {
        self.spec.sense = sense;
        self
    }

    /// A percentage that is larger than those declared before it.
    pub(crate) const fn rising_percent(name: &'static str, default: u64) -> Self {
        let mut param = Self::total(name, default, 1);
        param.spec.rises = true;
        param
    }
}

impl Param<f64> {
    /// A share between 0 and 1.
    pub const fn share(name: &'static str, default: f64) -> Self {
        Self::new(name, Default::Share(default), 0)
    }
}

impl Param<Span> {
    /// A parameter that is a duration, such as `"10m"`.
    pub const fn span(name: &'static str, default: Span) -> Self {
        Self::new(name, Default::Span(default), 0)
    }
}

impl Param<Option<u64>> {
    /// A whole number of at least `min`, or no limit.
    pub const fn limit(name: &'static str, default: Option<u64>, min: u64) -> Self {
        Self::new(name, Default::Limit(default), min)
    }
}

impl Param<Option<Span>> {
    /// A duration, or no limit.
    pub(crate) const fn span_limit(name: &'static str, default: Option<Span>) -> Self {
        Self::new(name, Default::SpanLimit(default), 1)
    }

    /// The same, with a limit of its own in a declared workflow.
    #[must_use]
    pub(crate) const fn in_workflow(mut self, limit: Span) -> Self {
        self.spec.declared = Some(Default::SpanLimit(Some(limit)));
        self
    }
}

impl Param<bool> {
    /// A switch that is on by default.
    pub const fn on(name: &'static str) -> Self {
        Self::new(name, Default::Switch(true), 0)
    }

    /// A switch that is off by default.
    pub const fn off(name: &'static str) -> Self {
        Self::new(name, Default::Switch(false), 0)
    }
}

impl Param<Vec<String>> {
    /// A list of texts.
    pub const fn list(name: &'static str, default: WordList) -> Self {
        Self::new(name, Default::List(default), 0)
    }
}

impl Param<Word> {
    /// One of some words.
    pub const fn word(name: &'static str, is: &'static str, of: &'static [&'static str]) -> Self {
        Self::new(name, Default::Word { is, of }, 0)
    }
}

/// One rule's level and parameters after all layers.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleSetting {
    pub level: Level,
    /// Parameters by name; complete.
    pub params: BTreeMap<&'static str, ParamValue>,
}

impl RuleSetting {
    /// The value of a parameter; its default in a setting that does not have it.
    fn value(&self, spec: &ParamSpec) -> Cow<'_, ParamValue> {
        self.params.get(spec.name).map_or_else(|| Cow::Owned(spec.default()), Cow::Borrowed)
    }

    /// The value of a parameter that is a whole number.
    pub fn count(&self, param: &Param<u64>) -> u64 {
        if let ParamValue::Count(count) = *self.value(&param.spec) { count } else { 0 }
    }

    /// The value of a parameter that is a number of items in memory.
    pub fn size(&self, param: &Param<u64>) -> usize {
        usize::try_from(self.count(param)).unwrap_or(usize::MAX)
    }

    /// A limit, one of time in seconds; 0 for none.
    pub fn limit(&self, spec: &ParamSpec) -> u64 {
        let value = self.value(spec);
        if let ParamValue::Limit(Some(limit)) | ParamValue::SpanLimit(Some(Span(limit))) = *value {
            limit
        } else {
            0
        }
    }

    /// The value of a parameter that is a duration.
    pub fn span(&self, param: &Param<Span>) -> Span {
        if let ParamValue::Span(span) = *self.value(&param.spec) { span } else { Span(0) }
    }

    /// The value of a parameter between 0 and 1.
    pub fn share(&self, param: &Param<f64>) -> f64 {
        if let ParamValue::Share(share) = *self.value(&param.spec) { share } else { 1.0 }
    }

    /// A switch: whether it is on.
    pub fn switch(&self, param: &Param<bool>) -> bool {
        *self.value(&param.spec) == ParamValue::Switch(true)
    }

    /// The value of a parameter that is one of a few words.
    pub fn word(&self, param: &Param<Word>) -> &'static str {
        if let ParamValue::Word { is, .. } = *self.value(&param.spec) { is } else { "" }
    }

    /// A list; empty in a setting that does not have it.
    pub fn list(&self, param: &Param<Vec<String>>) -> &[String] {
        if let Some(ParamValue::List(list)) = self.params.get(param.spec.name) { list } else { &[] }
    }
}

/// All rules by id; complete.
pub type RuleSettings = BTreeMap<&'static str, RuleSetting>;
