//! The tables that only flows of one kind have: a line in `kinds!` for each.
//!
//! Each begins with the columns `time_ns` and `flow`.

use units::{Duration, Time};

use crate::Values::{Bool, F64, Flow, I64, U64};
use crate::encoding::{self, Encoded, fields};
use crate::{Column, Encoding, Row, Table};

/// Something that takes the rows of a table: a file, a digest.
pub trait Keep {
    /// Sink that takes rows of this type.
    type Of<R: Row>;
    /// Result of a table in the end.
    type End;
    /// Why there is none.
    type Error;

    /// Begins a table.
    ///
    /// # Errors
    /// The table cannot be kept.
    fn create<R: Row>(&self) -> Result<Self::Of<R>, Self::Error>;
    /// Takes a row.
    fn push<R: Row>(of: &mut Self::Of<R>, row: R);
    /// Ends a table.
    fn end<R: Row>(of: Self::Of<R>) -> Self::End;
}

macro_rules! kinds {
    ($($table:ident: $row:ident [$($measure:literal),*],)*) => {
        /// The measures of each table: columns whose quantiles are figures: integers in `_ns`, or numbers.
        pub const MEASURES: &[(&str, &[&str])] = &[$(($row::TABLE, &[$($measure),*]),)*];


        /// A row of a table that only flows of one kind have.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)]
        pub enum KindRow {
            $($row($row),)*
        }

        $(impl From<$row> for KindRow {
            fn from(row: $row) -> KindRow {
                KindRow::$row(row)
            }
        })*

        impl KindRow {
            /// Name of the table.
            pub fn table(&self) -> &'static str {
                match self {
                    $(KindRow::$row(_) => $row::TABLE,)*
                }
            }

            /// The number in a column; NaN: it has none.
            ///
            /// # Panics
            /// The table has no such column.
            pub fn number(&self, column: &str) -> f64 {
                match self {
                    $(KindRow::$row(row) => number(row, column),)*
                }
            }
        }

        /// The tables of the kinds of flow that a plan has.
        #[allow(missing_debug_implementations)]
        pub struct KindTables<K: Keep> {
            $($table: Option<K::Of<$row>>,)*
        }

        impl<K: Keep> Default for KindTables<K> {
            fn default() -> Self {
                KindTables { $($table: None,)* }
            }
        }

        impl<K: Keep> KindTables<K> {
            /// Begins the tables of a plan.
            ///
            /// # Errors
            /// One cannot be kept.
            pub fn create(plan: &plan::Plan, keep: &K) -> Result<Self, K::Error> {
                Ok(KindTables { $($table: plan.has_table($row::TABLE).then(|| keep.create()).transpose()?,)* })
            }

            /// Takes a row, if its table is kept.
            pub fn push(&mut self, row: KindRow) {
                match row {
                    $(KindRow::$row(row) => {
                        if let Some(table) = &mut self.$table {
                            K::push(table, row);
                        }
                    })*
                }
            }

            /// Ends the tables. Returns what is left of each, by its name.
            pub fn end(&mut self) -> Vec<(&'static str, K::End)> {
                let ends = [$(self.$table.take().map(|table| ($row::TABLE, K::end(table))),)*];
                ends.into_iter().flatten().collect()
            }
        }

        /// Calls `each` with every type of row.
        ///
        /// # Errors
        /// The first of `each`.
        pub fn each<V: Visit>(visit: &mut V) -> Result<(), V::Error> {
            $(visit.visit::<$row>()?;)*
            Ok(())
        }
    };
}

/// Something to do with every type of row.
pub trait Visit {
    /// Why it cannot be done.
    type Error;

    /// Does it with one.
    ///
    /// # Errors
    /// It cannot be done.
    fn visit<R: Row>(&mut self) -> Result<(), Self::Error>;
}

kinds! {
    pings: PingRow ["rtt_ns"],
    requests: RequestRow ["fct_ns", "slowdown"],
}

/// The tables, for documents and other languages.
pub(crate) fn described() -> Vec<Table> {
    struct Describe(Vec<Table>);
    impl Visit for Describe {
        type Error = std::convert::Infallible;

        fn visit<R: Row>(&mut self) -> Result<(), Self::Error> {
            self.0.push(crate::table::<R>());
            Ok(())
        }
    }
    let mut all = Describe(Vec::new());
    let Ok(()) = each(&mut all);
    all.0
}

/// The measures of a table.
pub fn measures(table: &str) -> &'static [&'static str] {
    MEASURES.iter().find(|(name, _)| *name == table).map_or(&[], |(_, measures)| measures)
}

fn number<R: Row>(row: &R, name: &str) -> f64 {
    let column = R::COLUMNS.iter().find(|column| column.name == name);
    column.unwrap_or_else(|| panic!("the table {} has no column {name}", R::TABLE)).number(row)
}

fields! {
    PingRow { flow number sent rtt is_lost }
    RequestRow { flow number issued request_bytes answer_bytes completion ideal }
}

/// One echo request: a row of `pings`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingRow {
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Requests of a flow are numbered from 0.
    pub number: u64,
    /// The time at which it was sent.
    pub sent: Time,
    /// Time from sending to the answer's arrival; `None` without an answer.
    pub rtt: Option<Duration>,
    /// True if the request has no answer, and none is to be expected.
    pub is_lost: bool,
}

impl Row for PingRow {
    const TABLE: &'static str = "pings";
    const ENCODING: Option<Encoding<PingRow>> = encoding::of();
    const COLUMNS: &'static [Column<PingRow>] = &[
        Column::required("time_ns", I64(|row| Some(row.sent.as_nanos())), "when the request was sent"),
        Column::required("flow", Flow(|row| row.flow), "id of the flow"),
        Column::required("number", U64(|row| Some(row.number)), "number of the request, from 0"),
        Column::optional(
            "rtt_ns",
            I64(|row| row.rtt.map(Duration::as_nanos)),
            "time from sending to the answer's arrival (RFC 2681); null without an answer",
        ),
        Column::required(
            "lost",
            Bool(|row| Some(row.is_lost)),
            "whether it has no answer and a later request has one, or it waited for more than 1 s and the longest round trip \
             (RFC 6673); false for a request that is under way when the run ends",
        ),
    ];
}

/// One request of a flow of RPCs: a row of `requests`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Requests of a flow are numbered from 0.
    pub number: u64,
    /// The time at which it was due.
    pub issued: Time,
    /// Application data of the request.
    pub request_bytes: u64,
    /// Application data of the answer.
    pub answer_bytes: u64,
    /// Time from there until the client has the whole answer; `None`: it never had.
    pub completion: Option<Duration>,
    /// The same on an unloaded path; `None` if the path is unknown.
    pub ideal: Option<Duration>,
}

impl RequestRow {
    /// The row of a request that the client has the answer of after `completion`.
    pub fn of(flow: u16, request: plan::Request, completion: Option<Duration>) -> RequestRow {
        let plan::Request { number, issued, request_bytes, answer_bytes, ideal } = request;
        RequestRow { flow, number, issued, request_bytes, answer_bytes, completion, ideal }
    }
}

impl Row for RequestRow {
    const TABLE: &'static str = "requests";
    const ENCODING: Option<Encoding<RequestRow>> = encoding::of();
    const COLUMNS: &'static [Column<RequestRow>] = &[
        Column::required("time_ns", I64(|row| Some(row.issued.as_nanos())), "when the request was due"),
        Column::required("flow", Flow(|row| row.flow), "id of the flow"),
        Column::required("number", U64(|row| Some(row.number)), "number of the request, from 0"),
        Column::required("request_bytes", U64(|row| Some(row.request_bytes)), "application data of the request"),
        Column::required("answer_bytes", U64(|row| Some(row.answer_bytes)), "application data of the answer"),
        Column::optional(
            "fct_ns",
            I64(|row| row.completion.map(Duration::as_nanos)),
            "completion time: from when it was due until the client has read the whole answer; null if it never had",
        ),
        Column::optional(
            "ideal_ns",
            I64(|row| row.ideal.map(Duration::as_nanos)),
            "[completion time on the unloaded path](metrics.md#per-flow); null where routing daemons choose the path",
        ),
        Column::optional(
            "slowdown",
            F64(|row| Some(row.completion?.as_nanos() as f64 / row.ideal?.as_nanos() as f64)),
            "`fct_ns` ÷ `ideal_ns`",
        ),
    ];
}
