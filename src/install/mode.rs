//! The way in which git comes to start Andon: chosen once, before anything is touched.

andon_core::named_enum! {
    /// The way in which git comes to start Andon. The words are those of `andon install --help`.
    #[derive(Default, clap::ValueEnum)]
    pub enum Integration, "a mode" {
        /// Files of its own where git looks for hooks; hooks that were there are called
        #[default]
        Shim = "shim",
        /// Hooks in the repository's git configuration, which no manager overwrites (git 2.54)
        Config = "config",
        /// Marked lines in the hooks of husky
        Husky = "husky",
        /// Marked lines in lefthook-local.yml
        Lefthook = "lefthook",
        /// Marked lines in .pre-commit-config.yaml
        PreCommit = "pre-commit",
    }
}

/// The first git that reads hooks from its configuration.
pub const CONFIG_HOOKS_SINCE: GitVersion = (2, 54, 0);

/// A hook manager that is set up in the working tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manager {
    /// The mode that writes into its files.
    pub mode: Integration,
    /// The file or directory that shows it.
    pub shown_by: &'static str,
}

/// A version of git: major, minor and patch.
pub type GitVersion = (u32, u32, u32);

#[derive(Debug, Clone)]
pub struct ModeFacts {
    /// The mode that was asked for.
    pub asked: Option<Integration>,
    /// The mode of the last install, where it still holds.
    pub earlier: Option<Integration>,
    /// The managers that are there, the one whose hooks git runs first.
    pub managers: Vec<Manager>,
    /// git, where its version is known.
    pub git: Option<GitVersion>,
    /// `core.hooksPath` is set for all repositories of the user or the machine.
    pub shared_hooks: bool,
}

/// A mode, and the reason for it, for people; `None` where there was no choice to make.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct ModeChoice {
    pub mode: Integration,
    #[serde(rename = "mode_because")]
    pub because: Option<String>,
}

/// A requested mode that cannot work here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModeProblem {
    /// git is too old for hooks in its configuration.
    OldGit(Option<GitVersion>),
    /// The manager is not set up here.
    NoManager(Integration),
}

/// Takes the mode that was asked for; else that of an earlier install; else that of a manager which is there.
pub fn choose(at: &ModeFacts) -> Result<ModeChoice, ModeProblem> {
    let config_works = at.git.is_some_and(|git| git >= CONFIG_HOOKS_SINCE);
    if let Some(mode) = at.asked {
        if mode == Integration::Config && !config_works {
            return Err(ModeProblem::OldGit(at.git));
        }
        if !matches!(mode, Integration::Shim | Integration::Config)
            && !at.managers.iter().any(|manager| manager.mode == mode)
        {
            return Err(ModeProblem::NoManager(mode));
        }
        return Ok(ModeChoice { mode, because: None });
    }
    if let Some(mode) = at.earlier {
        return Ok(ModeChoice { mode, because: None });
    }
    let Some(manager) = at.managers.first() else {
        let because = "core.hooksPath is set for all your repositories, and git runs hooks of its configuration beside those";
        return Ok(if at.shared_hooks && config_works {
            ModeChoice { mode: Integration::Config, because: Some(because.to_owned()) }
        } else {
            ModeChoice { mode: Integration::Shim, because: None }
        });
    };
    let there = format!("{} is here", manager.shown_by);
    if config_works {
        let because =
            format!("{there}, and git runs hooks of its configuration, which no manager overwrites");
        return Ok(ModeChoice { mode: Integration::Config, because: Some(because) });
    }
    Ok(ModeChoice { mode: manager.mode, because: Some(there) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_then_what_was_then_what_is_there() {
        let husky = Manager { mode: Integration::Husky, shown_by: ".husky" };
        let lefthook = Manager { mode: Integration::Lefthook, shown_by: "lefthook.yml" };
        let at = |asked, earlier, managers: &[Manager], git| {
            let facts = ModeFacts { asked, earlier, managers: managers.to_vec(), git, shared_hooks: false };
            choose(&facts).map(|choice| choice.mode)
        };
        let shared = |git| {
            let facts = ModeFacts { asked: None, earlier: None, managers: vec![], git, shared_hooks: true };
            choose(&facts).map(|choice| choice.mode)
        };
        let (old, new) = (Some((2, 47, 3)), Some((2, 54, 0)));
        assert_eq!(at(None, None, &[], new), Ok(Integration::Shim));
        assert_eq!((shared(old), shared(new)), (Ok(Integration::Shim), Ok(Integration::Config)));
        assert_eq!(at(None, None, &[husky, lefthook], old), Ok(Integration::Husky));
        assert_eq!(at(None, None, &[lefthook], old), Ok(Integration::Lefthook));
        assert_eq!(at(None, None, &[husky], new), Ok(Integration::Config));
        assert_eq!(at(None, Some(Integration::Shim), &[husky], new), Ok(Integration::Shim));
        assert_eq!(
            at(Some(Integration::Shim), Some(Integration::Husky), &[husky], old),
            Ok(Integration::Shim)
        );
        assert_eq!(at(Some(Integration::Config), None, &[], new), Ok(Integration::Config));
        assert_eq!(at(Some(Integration::Config), None, &[], old), Err(ModeProblem::OldGit(old)));
        assert_eq!(at(Some(Integration::Config), None, &[], None), Err(ModeProblem::OldGit(None)));
        assert_eq!(at(Some(Integration::Config), None, &[], Some((3, 0, 0))), Ok(Integration::Config));
        assert_eq!(
            at(Some(Integration::Husky), None, &[lefthook], new),
            Err(ModeProblem::NoManager(Integration::Husky))
        );
        for (mode, name) in Integration::ALL {
            assert_eq!((mode.as_str(), Integration::from_name(name)), (name, Some(mode)));
        }
    }
}
