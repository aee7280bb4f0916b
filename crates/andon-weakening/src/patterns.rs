//! Words that say how tests are grouped, focused on, prepared and left out.

use andon_core::{WordList, words};

/// Words of what holds several tests.
pub(super) const GROUPS: WordList = words![
    "describe",
    "context",
    "suite",
    "feature",
    "group",
    "Describe",
    "Context",
    "When",
    "DescribeTableSubtree",
];

/// How a group or a test is declared besides which no other of its file runs, or what its declaration holds then.
pub(super) const FOCUSES: WordList = words![
    "js,jsx,ts,tsx,mjs,cjs,mts,cts,vue,svelte: .only",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts,vue,svelte: fit(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts,vue,svelte: ftest(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts,vue,svelte: fdescribe(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts,vue,svelte: fcontext(",
    "js,jsx,ts,tsx,mjs,cjs,mts,cts,vue,svelte: only:",
    "go: FIt(",
    "go: FDescribe(",
    "go: FContext(",
    "go: FWhen(",
    "go: Focus,",
    "rb: fit ",
    "rb: fspecify ",
    "rb: fdescribe ",
    "rb: fcontext ",
    "rb: focus:",
    "rb: :focus",
    "kt,kts: \"f:",
    "php: ->only(",
    "dart: solo:",
];

/// What runs before each test of a group.
pub(super) const SETUPS: WordList = words![
    "setUp",
    "setup",
    "set_up",
    "before",
    "beforeEach",
    "beforeAll",
    "BeforeEach",
    "BeforeAll",
    "SetUp",
    "SetupTest",
    "SetupSuite",
    "setup_method",
    "setUpClass",
    "setup_class",
];

/// Words of conditions on the machine that a test runs on: what skips it on some is no weaker on the others.
pub(super) const PLATFORMS: WordList = words![
    "miri",
    "loom",
    "target_os",
    "target_arch",
    "target_family",
    "windows",
    "GOOS",
    "GOARCH",
    "sys.platform",
    "sys.version_info",
    "os.name",
    "platform.system",
    "process.platform",
    "WIN",
];
