//! A lab whose network becomes another while it is up.
//!
//! New interfaces are made first. A second emulator gets ready for the new links; then the first one takes no more frames, the
//! second takes over with the next frame, and what is on the old links arrives. So no frame is lost or comes twice. At last
//! what the new network lacks is removed.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lab::{Lab, Rewired};
use messages::{Failure, Order, Process};
use plan::{Node, Plan};

use crate::child::Child;
use crate::init::Built;
use crate::live::Live;
use crate::loaded::Loaded;
use crate::services::{Links, emulator, routers};

/// A lab, and all that another emulator for it needs.
pub(crate) struct Site<'a> {
    lab: &'a mut Lab,
    built: Built,
    loaded: &'a Loaded,
    dir: &'a Path,
    live: &'a Live,
    /// Brings the agent the nodes that are added.
    ferry: UnixStream,
    /// Brings the process that has routing daemons the routers that are added and have some.
    routers: UnixStream,
    /// The times that the network has become another.
    count: usize,
    pub pending: Option<Pending>,
}

/// A network that is about to be the lab's.
pub(crate) struct Pending {
    pub plan: Plan,
    made: Rewired,
    pub stage: Stage,
}

/// A network that is the lab's now.
pub(crate) struct Settled {
    pub plan: Plan,
    /// Names of the nodes that were added.
    pub added: Vec<String>,
    /// Changes that the kernel has refused.
    pub refused: Vec<String>,
}

/// The progress of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The second emulator gets ready.
    Preparing,
    /// The first one is to take no more frames.
    Retiring,
}

impl<'a> Site<'a> {
    pub(crate) fn new(
        lab: &'a mut Lab,
        built: Built,
        loaded: &'a Loaded,
        dir: &'a Path,
        live: &'a Live,
        ferry: UnixStream,
        routers: UnixStream,
    ) -> Site<'a> {
        Site { lab, built, loaded, dir, live, ferry, routers, count: 0, pending: None }
    }

    /// Adds what the network in `file` has besides `from`, and starts the emulator of its links. Until that is ready, it is no
    /// loss.
    ///
    /// # Errors
    /// The network cannot become this one. Then the lab is as it was.
    pub(crate) fn begin(&mut self, file: &str, from: &Plan, siblings: &[Child]) -> Result<Child> {
        let path = self.dir.join(file);
        let plan = Plan::read(&path)?;
        let most = self.live.links.len();
        if plan.links.len() > most {
            let why = format!("{} links are too many: this lab has room for {most}", plan.links.len());
            return Err(Failure::new("the network cannot grow", why).hint("save it, and start a lab of that").into());
        }
        let made = self.lab.rewire(from, &plan)?;
        self.count += 1;
        let child = self.start(&plan, siblings);
        match child {
            Ok(child) => {
                self.pending = Some(Pending { plan, made, stage: Stage::Preparing });
                Ok(child)
            }
            Err(error) => {
                self.lab.restore(made);
                Err(error)
            }
        }
    }

    fn start(&self, plan: &Plan, siblings: &[Child]) -> Result<Child> {
        let dir: PathBuf = self.dir.join(format!("links-{}", self.count));
        std::fs::create_dir_all(&dir).with_context(|| format!("making {}", dir.display()))?;
        // Routing has converged long ago, or does so before the eyes of whoever looks on.
        let carried = Plan { wait: None, ..plan.clone() };
        let (lab, live) = (&*self.lab, Some(self.live));
        let links =
            Links { plan: &carried, lab, built: self.built, loaded: self.loaded, dir: &dir, live, witnessed: live };
        let (mut service, work) = emulator(links, Process::Agent);
        service.needed = false;
        Child::start(service, work, siblings)
    }

    /// Sends the routers with daemons that were `added`. Returns the order that has the routers of `plan`.
    pub(crate) fn route(&self, plan: &Plan, added: &[String]) -> Result<Order> {
        let has_daemons = |node: &&Node| matches!(node, Node::Router { routing: Some(_), .. });
        let routers: Vec<Node> = plan.nodes.iter().filter(has_daemons).cloned().collect();
        for node in routers.iter().filter(|node| added.iter().any(|name| name == node.name())) {
            let host = self.lab.node(node.name()).with_context(|| format!("no node {} in the lab", node.name()))?;
            lab::ferry::send(self.routers.as_fd(), host)?;
        }
        Ok(Order::Route { routers })
    }

    /// Starts the process that has the daemons of the routers of `plan`, if there are some.
    pub(crate) fn start_routers(&mut self, plan: &Plan, siblings: &[Child]) -> Result<Option<Child>> {
        let (ours, its) = UnixStream::pair().context("making a pair of sockets")?;
        let carried = Plan { wait: None, ..plan.clone() };
        let service = routers(&carried, self.lab, self.dir, Some(its.into()));
        let child = service.map(|(service, work)| Child::start(service, work, siblings)).transpose()?;
        self.routers = ours;
        Ok(child)
    }

    /// Takes back what [`Site::begin`] has done.
    pub(crate) fn give_up(&mut self) {
        if let Some(Pending { made, .. }) = self.pending.take() {
            self.lab.restore(made);
        }
    }

    /// The links are those of the new network. Removes what it lacks, and gives the agent the nodes that were added.
    pub(crate) fn finish(&mut self, from: &Plan) -> Result<Option<Settled>> {
        let Some(Pending { plan, made, .. }) = self.pending.take() else { return Ok(None) };
        let added = made.added.clone();
        let refused = self.lab.settle(made, from, &plan);
        for name in &added {
            let host = self.lab.node(name).with_context(|| format!("no node {name} in the lab"))?;
            lab::ferry::send(self.ferry.as_fd(), host)?;
        }
        Ok(Some(Settled { plan, added, refused }))
    }
}
