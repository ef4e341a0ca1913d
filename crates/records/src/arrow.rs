//! The Arrow schema of a table, as Parquet files carry it: readers learn from it which texts are few words.

use std::collections::BTreeMap;

use rows::Described;

/// Key of the schema in a file's metadata.
pub(crate) const KEY: &str = "ARROW:schema";

/// A reference to an object that follows, until [`Message::refer`] sets it.
const REFERENCE: &[u8] = &[0; 4];
/// A field of a table that has its default.
const DEFAULT: &[u8] = &[];

/// Returns the schema of `columns`, in Base64: a message of Arrow's IPC format.
pub(crate) fn schema(columns: &[Described]) -> String {
    let mut message = Message { bytes: REFERENCE.to_vec(), ..Message::default() };
    // Message: version 5, a schema, its header; Schema: byte order, fields. `Schema.fbs` and `Message.fbs` have them all.
    let [.., header] = message.table(0, [&4_i16.to_le_bytes(), &[1], REFERENCE]);
    let [_, fields] = message.table(header, [DEFAULT, REFERENCE]);
    let fields = message.vector(fields, columns.len());
    let mut dictionaries = 0..;
    for (column, field) in columns.iter().zip((fields..).step_by(REFERENCE.len())) {
        let dictionary = (column.kind == "dict").then(|| dictionaries.next().unwrap_or(0_i64));
        message.field(field, column, dictionary);
    }
    let bytes = message.finish();
    base64(&[&[0xff; 4], &(bytes.len() as u32).to_le_bytes()[..], &bytes].concat())
}

/// A FlatBuffer, whose objects come in the order in which they are referred to.
#[derive(Default)]
struct Message {
    bytes: Vec<u8>,
    /// Places of the tables of each layout.
    layouts: BTreeMap<Vec<u8>, Vec<usize>>,
}

impl Message {
    /// Sets the reference at `place` to the end, where an object begins.
    fn refer(&mut self, place: usize) {
        let distance = (self.bytes.len() - place) as u32;
        self.bytes[place..place + REFERENCE.len()].copy_from_slice(&distance.to_le_bytes());
    }

    fn align(&mut self, bytes: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(bytes), 0);
    }

    /// Appends a table, to which `place` refers. Returns the places of its fields.
    fn table<const FIELDS: usize>(&mut self, place: usize, fields: [&[u8]; FIELDS]) -> [usize; FIELDS] {
        let mut size = REFERENCE.len();
        let offsets = fields.map(|field| {
            let offset = size.next_multiple_of(field.len().max(1));
            size = offset + field.len();
            offset
        });
        self.align(fields.iter().fold(REFERENCE.len(), |most, field| most.max(field.len())));
        self.refer(place);
        let table = self.bytes.len();
        self.bytes.extend(REFERENCE);
        for (offset, field) in offsets.into_iter().zip(fields) {
            self.bytes.resize(table + offset, 0);
            self.bytes.extend(field);
        }
        let offset = |(offset, field): (usize, &[u8])| if field.is_empty() { 0 } else { offset };
        let layout = [4 + 2 * FIELDS, size].into_iter().chain(offsets.into_iter().zip(fields).map(offset));
        let layout = layout.flat_map(|number| (number as u16).to_le_bytes()).collect();
        self.layouts.entry(layout).or_default().push(table);
        offsets.map(|offset| table + offset)
    }

    /// Appends a vector of references, to which `place` refers. Returns the place of the first.
    fn vector(&mut self, place: usize, count: usize) -> usize {
        self.align(4);
        self.refer(place);
        self.bytes.extend((count as u32).to_le_bytes());
        let first = self.bytes.len();
        self.bytes.resize(first + count * REFERENCE.len(), 0);
        first
    }

    fn text(&mut self, place: usize, text: &str) {
        self.vector(place, 0);
        let length = self.bytes.len() - 4;
        self.bytes[length..].copy_from_slice(&(text.len() as u32).to_le_bytes());
        self.bytes.extend(text.bytes().chain([0]));
    }

    /// Appends the layouts of the tables: some readers find none that is before all of its tables.
    fn finish(mut self) -> Vec<u8> {
        for (layout, tables) in std::mem::take(&mut self.layouts) {
            self.align(2);
            for table in tables {
                let distance = table as i32 - self.bytes.len() as i32;
                self.bytes[table..table + 4].copy_from_slice(&distance.to_le_bytes());
            }
            self.bytes.extend(layout);
        }
        self.align(8);
        self.bytes
    }

    /// Appends a Field, which has this number if it is a dictionary.
    fn field(&mut self, place: usize, column: &Described, dictionary: Option<i64>) {
        const INT: u8 = 2;
        const FLOAT: u8 = 3;
        const UTF8: u8 = 5;
        const BOOL: u8 = 6;
        let (kind, bits, detail) = match column.kind {
            "i64" => (INT, 64_i32, 1),
            "u16" => (INT, 16, 0),
            "u32" => (INT, 32, 0),
            "u64" => (INT, 64, 0),
            "f32" => (FLOAT, 0, 1),
            "f64" => (FLOAT, 0, 2),
            "bool" => (BOOL, 0, 0),
            _ => (UTF8, 0, 0),
        };
        // Name, nullability, type, dictionary, children.
        let number = dictionary.map_or(DEFAULT, |_| REFERENCE);
        let nullable = [u8::from(column.nullable)];
        let [name, .., of_kind, of_number, children] =
            self.table(place, [REFERENCE, &nullable, &[kind], REFERENCE, number, REFERENCE]);
        self.text(name, column.name);
        let bits = bits.to_le_bytes();
        let precision = i16::from(detail).to_le_bytes();
        match kind {
            INT => _ = self.table(of_kind, [&bits, &[detail]]),
            FLOAT => _ = self.table(of_kind, [&precision]),
            _ => _ = self.table(of_kind, []),
        }
        if let Some(number) = dictionary {
            let [_, index] = self.table(of_number, [&number.to_le_bytes(), REFERENCE]);
            self.table(index, [&16_i32.to_le_bytes(), &[0]]);
        }
        self.vector(children, 0);
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let four = |three: &[u8]| {
        let bits = three.iter().zip([16, 8, 0]).fold(0, |bits, (&byte, shift)| bits | u32::from(byte) << shift);
        let letter = move |at: usize| char::from(LETTERS[(bits >> (18 - 6 * at)) as usize % 64]);
        let letters = three.len() + 1;
        (0..4).map(move |at| if at < letters { letter(at) } else { '=' })
    };
    bytes.chunks(3).flat_map(four).collect()
}
