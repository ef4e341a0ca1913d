//! The folders that a router's daemons see as the machine's.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use messages::Failure;
use nix::mount::{MsFlags, mount};

use crate::Seat;

/// In the lab's own /run.
const ALL: &str = "/run/routers";
const CONFIGURATION: &str = "frr.conf";
/// The names under which FRR looks for the user and the groups that it is to become.
const USER: &str = "frr";
const GROUPS: [&str; 2] = ["frr", "frrvty"];

/// A folder of a router, and where its daemons see it. Those of the last ones that a machine lacks are not needed there.
const FOLDERS: [(&str, &str); 4] =
    [("frr", "/var/run/frr"), ("etc", "/etc/frr"), ("lib", "/var/lib/frr"), ("tmp", "/var/tmp")];

/// Makes the files that all routers share. Call this once in a lab.
pub(crate) fn share() -> Result<()> {
    fs::create_dir_all(ALL).with_context(|| format!("creating {ALL}"))?;
    // /var/run leads here. The lab's /run is empty, so there is nothing of the machine's FRR in it.
    fs::create_dir_all("/var/run/frr").context("creating /var/run/frr in the lab")?;
    // FRR changes to its user and groups unless they are those that it has: with these it has them.
    let entries: String = GROUPS.iter().map(|group| format!("{group}:x:0:\n")).collect();
    for (file, names, own) in
        [("passwd", &[USER][..], format!("{USER}:x:0:0::/:/bin/sh\n")), ("group", &GROUPS[..], entries)]
    {
        let machines = fs::read_to_string(Path::new("/etc").join(file)).unwrap_or_default();
        let is_other = |line: &&str| !names.contains(&line.split(':').next().unwrap_or_default());
        let kept: String = machines.lines().filter(is_other).map(|line| format!("{line}\n")).collect();
        let path = Path::new(ALL).join(file);
        fs::write(&path, kept + &own).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

/// Makes a router's folders, writes its configuration, and lets its mount namespace see them.
///
/// # Errors
/// FRR is not installed, or the lab may not mount.
pub(crate) fn furnish(seat: &Seat<'_>) -> Result<()> {
    let own = of(&seat.name);
    for (name, _) in FOLDERS {
        // Crash logs go into `tmp`, and FRR looks whether others may write there.
        DirBuilder::new().recursive(true).mode(0o755).create(own.join(name)).context("creating a router's folder")?;
    }
    let etc = own.join("etc");
    fs::write(etc.join(CONFIGURATION), &seat.routing.config).context("writing frr.conf")?;
    // Without the second line vtysh asks PAM for a password.
    fs::write(etc.join("vtysh.conf"), "service integrated-vtysh-config\nusername root nopassword\n")
        .context("writing vtysh.conf")?;
    seat.within(|| {
        for (name, place) in FOLDERS {
            if Path::new(place).exists() {
                bind(&own.join(name), place)?;
            } else if place == "/etc/frr" {
                return Err(Failure::new("looking for /etc/frr", "it does not exist")
                    .hint("FRRouting is not installed: on Debian, the package is called frr")
                    .into());
            }
        }
        ["passwd", "group"].iter().try_for_each(|file| bind(&Path::new(ALL).join(file), &format!("/etc/{file}")))
    })
}

/// Gives a router that runs the configuration `after` for its next start, unless somebody has written another than `before`.
pub(crate) fn refurnish(router: &str, before: &str, after: &str) -> Result<()> {
    let path = of(router).join("etc").join(CONFIGURATION);
    if fs::read_to_string(&path).is_ok_and(|text| text == before) {
        fs::write(&path, after).context("writing frr.conf")?;
    }
    Ok(())
}

/// Removes the folders of a router that is gone: another one may get its name.
pub(crate) fn clear(router: &str) -> Result<()> {
    fs::remove_dir_all(of(router)).with_context(|| format!("removing the folders of {router}"))
}

/// The folder of a router, as the lab sees it.
pub(crate) fn of(router: &str) -> PathBuf {
    Path::new(ALL).join(router)
}

fn bind(what: &Path, place: &str) -> Result<()> {
    mount(Some(what), place, None::<&str>, MsFlags::MS_BIND, None::<&str>)
        .map_err(|why| Failure::new(format!("mounting {} over {place}", what.display()), why.desc()).into())
}
