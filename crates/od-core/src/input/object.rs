//! Objects that clients send, each declared once: its type, its reader, its JSON Schema, its patch.

use super::fields::{Fields, Issues};
use super::schema;
use crate::error::Issue;
use crate::json::{Map, Pointer, Value};

/// An object that clients send, declared by [`input!`].
pub(crate) trait Input: Sized {
    /// The first sentence of its schema.
    const DESCRIPTION: &'static str;

    /// Adds the names of its fields, in the order of the declaration.
    fn push_names(names: &mut Vec<&'static str>);

    /// Reads the fields of an open object: notes what is missing, then reads in the order of the
    /// declaration.
    fn read_fields(fields: &mut Fields<'_, '_>) -> Option<Self>;

    /// Adds the schema of each field.
    fn push_properties(properties: &mut Properties);

    /// Reads an object, noting every field it does not know.
    fn read(value: &Value, at: Pointer, issues: &mut Issues) -> Option<Self> {
        let mut names = Vec::new();
        Self::push_names(&mut names);
        Self::read_fields(&mut Fields::open(value, at, &names, issues)?)
    }

    /// Reads a whole request and returns it with its warnings, or every fault at once.
    fn read_whole(value: &Value) -> Result<(Self, Vec<Issue>), Vec<Issue>> {
        let mut issues = Issues::default();
        let read = Self::read(value, Pointer::root(), &mut issues);
        issues.finish(read)
    }

    /// Returns its schema, everything inlined.
    fn schema() -> Value {
        let mut properties = Properties::default();
        Self::push_properties(&mut properties);
        schema::object(Self::DESCRIPTION, &properties.schemas, &properties.required)
    }
}

/// The schemas of an object's fields.
#[derive(Default)]
pub(crate) struct Properties {
    schemas: Map,
    required: Vec<&'static str>,
}

impl Properties {
    /// Adds a field.
    pub(crate) fn push(&mut self, name: &'static str, is_required: bool, schema: Value) {
        self.schemas.insert(name.to_owned(), schema);
        if is_required {
            self.required.push(name);
        }
    }

    /// Adds the fields of another object but one.
    pub(crate) fn append_without(&mut self, other: Self, left_out: &str) {
        let Self { schemas, required } = other;
        self.schemas.extend(schemas.into_iter().filter(|(name, _)| name != left_out));
        self.required.extend(required.into_iter().filter(|name| *name != left_out));
    }
}

/// Declares an object that clients send; a field is one row.
///
/// A row is `MODE name: Type = "wireName", reader, "description";`, under the attributes of the
/// field. The modes:
///
/// - `required`: the client has to send it.
/// - `optional`: the field is an `Option`. An update removes it with `null`.
/// - `default(expression)`: taken if the client does not send it; the expression may use the fields
///   above. `default(expression, "…")` has the schema say so.
/// - `nested(TypePatch)`: an optional object of which an update changes parts.
///
/// Before the rows, `..name: Type => TypePatch;` takes in the rows of another object, and
/// `@once { … }` holds rows that an update has not: always optional, so they name no mode.
/// `@unsent { … }` holds fields that no client sends. `then function` names the rules between the
/// fields: `fn(Self, &mut Fields) -> Option<Self>`.
///
/// With `patch TypePatch "description"` the same rows also declare what an update may send, each of
/// them optional; `applied` gives that type an `apply`.
///
/// A macro and not a derive: the derive would need a crate of its own, and serde's stops at the
/// first fault.
macro_rules! input {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $description:literal $(then $check:path)?,
        patch $patch:ident $patch_description:literal applied { $($body:tt)* }
    ) => {
        $crate::input::input! {
            $(#[$meta])*
            pub struct $name $description $(then $check)?,
            patch $patch $patch_description { $($body)* }
        }
        $crate::input::applied! { $name $patch { $($body)* } }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident $description:literal $(then $check:path)?,
        patch $patch:ident $patch_description:literal { $($body:tt)* }
    ) => {
        $crate::input::input! {
            $(#[$meta])*
            pub struct $name $description $(then $check)? { $($body)* }
        }
        $crate::input::patch! { $name $patch $patch_description { $($body)* } }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident $description:literal $(then $check:path)? {
            $(..$flat:ident: $flat_type:ident => $flat_patch:ident;)?
            $(@once {
                $($(#[$once_meta:meta])* $once:ident: $once_type:ty
                    = $once_wire:literal, $once_reader:expr, $once_doc:literal;)*
            })?
            $(@unsent { $($(#[$unsent_meta:meta])* $unsent:ident: $unsent_type:ty;)* })?
            $($(#[$field_meta:meta])* $mode:ident $(($($args:tt)*))? $field:ident: $type:ty
                = $wire:literal, $reader:expr $(, $doc:literal)?;)*
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $(
                #[doc = concat!("Its [`", stringify!($flat_type), "`].")]
                pub $flat: $flat_type,
            )?
            $($($(#[$once_meta])* pub $once: Option<$once_type>,)*)?
            $($($(#[$unsent_meta])* pub $unsent: $unsent_type,)*)?
            $($(#[$field_meta])* pub $field: $crate::input::row!(type $mode $type),)*
        }

        impl $crate::input::Input for $name {
            const DESCRIPTION: &'static str = $description;

            fn push_names(names: &mut Vec<&'static str>) {
                $(<$flat_type as $crate::input::Input>::push_names(names);)?
                $(names.extend([$($once_wire),*]);)?
                names.extend([$($wire),*]);
            }

            fn read_fields(fields: &mut $crate::input::Fields<'_, '_>) -> Option<Self> {
                $(let $flat = <$flat_type as $crate::input::Input>::read_fields(fields);)?
                $($crate::input::row!(missing $mode fields $wire);)*
                $($(let $once = fields.read($once_wire, &$once_reader);)*)?
                $(let $field = fields.read($wire, &$reader);)*
                $(let $flat = $flat?;)?
                $($crate::input::row!(build $mode [$($($args)*)?] $field);)*
                $($(let $unsent = Default::default();)*)?
                let read = Self { $($flat,)? $($($once,)*)? $($($unsent,)*)? $($field,)* };
                $(let read = $check(read, fields)?;)?
                Some(read)
            }

            fn push_properties(properties: &mut $crate::input::Properties) {
                $(<$flat_type as $crate::input::Input>::push_properties(properties);)?
                $($(
                    let schema = $crate::input::describe::<$once_type>(&$once_reader, $once_doc);
                    properties.push($once_wire, false, schema);
                )*)?
                $(
                    let description = $crate::input::row!(describe $mode [$($($args)*)?] $($doc)?);
                    let schema = $crate::input::describe::<$type>(&$reader, description);
                    properties.push($wire, $crate::input::row!(needed $mode), schema);
                )*
            }
        }
    };
}

/// Declares what an update may send of an object: its rows less those in `@once`, none required.
macro_rules! patch {
    (
        $whole:ident $name:ident $description:literal {
            $(..$flat:ident: $flat_type:ident => $flat_patch:ident;)?
            $(@once { $($once:tt)* })?
            $($(#[$field_meta:meta])* $mode:ident $(($($args:tt)*))? $field:ident: $type:ty
                = $wire:literal, $reader:expr $(, $doc:literal)?;)*
        }
    ) => {
        #[doc = concat!("The changes of a [`", stringify!($whole), "`], checked; what is absent stays.")]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $(
                #[doc = concat!("The changes of its [`", stringify!($flat_type), "`].")]
                pub $flat: $flat_patch,
            )?
            $(
                #[doc = concat!("What becomes of `", $wire, "`.")]
                pub $field: $crate::input::row!(patch_type $mode [$($($args)*)?] $type),
            )*
        }

        impl $crate::input::Input for $name {
            const DESCRIPTION: &'static str = $description;

            fn push_names(names: &mut Vec<&'static str>) {
                $(<$flat_patch as $crate::input::Input>::push_names(names);)?
                names.extend([$($wire),*]);
            }

            fn read_fields(fields: &mut $crate::input::Fields<'_, '_>) -> Option<Self> {
                $(let $flat = <$flat_patch as $crate::input::Input>::read_fields(fields);)?
                $(let $field = $crate::input::row!(
                    read_patch $mode [$($($args)*)?] fields $wire, $reader
                );)*
                Some(Self { $($flat: $flat?,)? $($field,)* })
            }

            fn push_properties(properties: &mut $crate::input::Properties) {
                $(<$flat_patch as $crate::input::Input>::push_properties(properties);)?
                $(
                    let schema = $crate::input::row!(
                        patch_schema $mode [$($($args)*)?] $type, $reader $(, $doc)?
                    );
                    properties.push($wire, false, schema);
                )*
            }
        }
    };
}

/// Lets a patch be applied to the object it is the patch of, which has neither nested nor taken-in
/// rows.
macro_rules! applied {
    (
        $whole:ident $patch:ident {
            $($(#[$field_meta:meta])* $mode:ident $(($($args:tt)*))? $field:ident: $type:ty
                = $wire:literal, $reader:expr $(, $doc:literal)?;)*
        }
    ) => {
        impl $patch {
            /// Applies the changes.
            pub fn apply(self, whole: &mut $whole) {
                $($crate::input::row!(apply $mode self whole $field);)*
            }
        }
    };
}

/// The parts of a row that differ by its mode; see [`input!`].
macro_rules! row {
    (type optional $type:ty) => { Option<$type> };
    (type nested $type:ty) => { Option<$type> };
    (type $mode:ident $type:ty) => { $type };

    (missing required $fields:ident $wire:literal) => { $fields.require($wire) };
    (missing $mode:ident $fields:ident $wire:literal) => {};

    (build required [] $field:ident) => { let $field = $field?; };
    (build default [$default:expr $(, $absent:literal)?] $field:ident) => {
        let $field = $field.unwrap_or_else(|| $default);
    };
    (build $mode:ident [$($args:tt)*] $field:ident) => {};

    (needed required) => { true };
    (needed $mode:ident) => { false };

    (describe default [$default:expr, $absent:literal] $doc:literal) => {
        concat!($doc, "; ", $absent)
    };
    (describe $mode:ident [$($args:tt)*] $doc:literal) => { $doc };
    // An object describes itself.
    (describe $mode:ident [$($args:tt)*]) => { "" };

    (patch_type optional [] $type:ty) => { $crate::input::Patch<$type> };
    (patch_type nested [$patch:ident] $type:ty) => { Option<$patch> };
    (patch_type $mode:ident [$($args:tt)*] $type:ty) => { Option<$type> };

    (read_patch optional [] $fields:ident $wire:literal, $reader:expr) => {
        $fields.read_patch($wire, &$reader)
    };
    (read_patch nested [$patch:ident] $fields:ident $wire:literal, $reader:expr) => {
        $fields.read($wire, &$crate::input::object::<$patch>())
    };
    (read_patch $mode:ident [$($args:tt)*] $fields:ident $wire:literal, $reader:expr) => {
        $fields.read($wire, &$reader)
    };

    (patch_schema optional [] $type:ty, $reader:expr $(, $doc:literal)?) => {
        $crate::input::schema::or_null($crate::input::describe::<$type>(&$reader, concat!($($doc)?)))
    };
    (patch_schema nested [$patch:ident] $type:ty, $reader:expr $(, $doc:literal)?) => {
        <$patch as $crate::input::Input>::schema()
    };
    (patch_schema $mode:ident [$($args:tt)*] $type:ty, $reader:expr $(, $doc:literal)?) => {
        $crate::input::describe::<$type>(&$reader, concat!($($doc)?))
    };

    (apply optional $patch:ident $whole:ident $field:ident) => {
        $whole.$field = $patch.$field.apply($whole.$field.take())
    };
    (apply $mode:ident $patch:ident $whole:ident $field:ident) => {
        if let Some(new) = $patch.$field {
            $whole.$field = new;
        }
    };
}

pub(crate) use {applied, input, patch, row};

/// The change that an update makes to a part that may be absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Patch<T> {
    /// It stays as it is.
    #[default]
    Keep,
    /// It goes: the update says `null`.
    Remove,
    /// It is replaced.
    Set(T),
}

impl<T> Patch<T> {
    /// Applies the patch to a part.
    #[must_use]
    pub fn apply(self, part: Option<T>) -> Option<T> {
        match self {
            Self::Keep => part,
            Self::Remove => None,
            Self::Set(value) => Some(value),
        }
    }
}
