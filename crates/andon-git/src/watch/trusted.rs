//! Where the kernel tells of every change that a program of this machine makes.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use nix::sys::statfs::{self, FsType};

/// File systems whose every change goes through this kernel: ext2 to ext4, xfs, btrfs, tmpfs, overlay, f2fs, zfs.
/// Network and user-space ones change without it.
fn is_local(kind: FsType) -> bool {
    // Not everywhere where nix has the others.
    const XFS: FsType = FsType(0x5846_5342);
    const ZFS: FsType = FsType(0x2fc1_2fc1);
    let local = [
        statfs::EXT4_SUPER_MAGIC,
        XFS,
        statfs::BTRFS_SUPER_MAGIC,
        statfs::TMPFS_MAGIC,
        statfs::OVERLAYFS_SUPER_MAGIC,
        statfs::F2FS_SUPER_MAGIC,
        ZFS,
    ];
    local.contains(&kind)
}

/// Whether the kernel tells of every change below `top`: on a file system that does, with nothing else mounted in it.
pub(super) fn tells_all(top: &Path) -> bool {
    let Ok(mounts) = std::fs::read("/proc/self/mountinfo") else { return false };
    statfs::statfs(top).is_ok_and(|found| is_local(found.filesystem_type()))
        && top.is_absolute()
        && !has_mount_below(&mounts, top.as_os_str().as_bytes())
}

/// The fifth word of each line is where something is mounted, with white space and backslashes in octal.
fn has_mount_below(mounts: &[u8], top: &[u8]) -> bool {
    mounts.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).any(
        |point| {
            let point = unescaped(point);
            point
                .strip_prefix(top)
                .is_some_and(|rest| rest.len() > 1 && (top == b"/" || rest.starts_with(b"/")))
        },
    )
}

fn unescaped(word: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let code =
            after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            plain.push(byte);
            rest = &after[3..];
        } else {
            plain.push(*first);
            rest = after;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_below_the_top_are_found() {
        let mounts = b"1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:1 / /home/a\\040b/x rw - nfs s:/ rw\n3 1 0:1 / /srv rw - x y rw\n";
        let cases: [(&[u8], bool); 7] = [
            (b"/home/a b", true),
            (b"/home/a", false),
            (b"/home/a b/x", false),
            (b"/home", true),
            (b"/srv", false),
            (b"/sr", false),
            (b"/tmp/r", false),
        ];
        for (top, expected) in cases {
            assert_eq!(has_mount_below(mounts, top), expected, "{}", String::from_utf8_lossy(top));
        }
    }

    #[test]
    fn what_others_change_is_not_trusted() {
        for (kind, expected) in [
            (statfs::EXT4_SUPER_MAGIC, true),
            (statfs::OVERLAYFS_SUPER_MAGIC, true),
            (statfs::NFS_SUPER_MAGIC, false),
            (statfs::FUSE_SUPER_MAGIC, false),
            (statfs::SMB_SUPER_MAGIC, false),
        ] {
            assert_eq!(is_local(kind), expected, "{kind:?}");
        }
        assert!(!tells_all(Path::new("/proc/self")));
        assert!(!tells_all(Path::new("/no/such/place")));
    }
}
