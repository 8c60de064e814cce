//! The locales that pages can be written for: a closed table of separators, names and patterns.
//!
//! The entries are what `Intl` of Chromium 156 writes (CLDR); a browser test compares thousands of
//! values of each. A table of our own, because the data of all locales would be several megabytes
//! and would change under a page with every update of a library.

use crate::words::words;

words! {
    /// A language, and where it matters a region, that formats write for.
    Locale {
        /// American English.
        En = "en",
        /// British English.
        EnGb = "en-GB",
        /// German.
        De = "de",
        /// French.
        Fr = "fr",
        /// Spanish.
        Es = "es",
        /// Brazilian Portuguese.
        PtBr = "pt-BR",
        /// Italian.
        It = "it",
        /// Dutch.
        Nl = "nl",
        /// Japanese.
        Ja = "ja",
        /// Chinese, simplified.
        ZhCn = "zh-CN",
        /// Chinese, traditional.
        ZhTw = "zh-TW",
        /// Korean.
        Ko = "ko",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro of closed words derives the rest")]
impl Default for Locale {
    fn default() -> Self {
        Self::En
    }
}

impl Locale {
    pub(crate) fn data(self) -> &'static LocaleData {
        &LOCALES[self as usize]
    }
}

/// Everything that formats know about a locale.
#[derive(Debug)]
pub(crate) struct LocaleData {
    pub(crate) numbers: Numbers,
    /// From which power of ten on, divided by which, and what stands behind the number.
    pub(crate) compact: &'static [(i32, i32, &'static str)],
    /// What stands behind a number of bytes, kB, MB, GB, TB, PB.
    pub(crate) bytes: [&'static str; 6],
    /// What stands behind days, hours, minutes, seconds, milliseconds: behind one, behind others.
    pub(crate) durations: [(&'static str, &'static str); 5],
    pub(crate) plural: PluralRule,
    /// Empty where patterns have numbers for months.
    pub(crate) months_long: [&'static str; 12],
    pub(crate) months_short: [&'static str; 12],
    /// From Sunday.
    pub(crate) weekdays_long: [&'static str; 7],
    pub(crate) weekdays_short: [&'static str; 7],
    pub(crate) periods: Periods,
    pub(crate) date_short: &'static str,
    pub(crate) date_medium: &'static str,
    pub(crate) date_long: &'static str,
    pub(crate) date_full: &'static str,
    pub(crate) date_day: &'static str,
    pub(crate) date_month: &'static str,
    pub(crate) time_short: &'static str,
    pub(crate) time_medium: &'static str,
    /// What stands between date and time, for the four lengths of dates.
    pub(crate) joins: [&'static str; 4],
    /// Seconds, minutes, hours, days, months, years ago, `#` being the number: one, others.
    pub(crate) ago: [(&'static str, &'static str); 6],
    /// The same ahead.
    pub(crate) ahead: [(&'static str, &'static str); 6],
    pub(crate) now: &'static str,
}

/// The marks of numbers.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub(crate) decimal: &'static str,
    pub(crate) group: &'static str,
    /// How many digits must stand before the first separator.
    pub(crate) min_grouping: i32,
    /// What stands behind a percentage.
    pub(crate) percent: &'static str,
    pub(crate) currency: CurrencyPattern,
}

/// The place of the sign of a currency.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CurrencyPattern {
    /// `-€1`, with a space behind letters: `-CHF 1`.
    Before,
    /// `-€ 1`.
    BeforeSpaced,
    /// `€ -1`.
    BeforeSpacedSignBehind,
    /// `-1 €`.
    After,
}

/// The numbers that take the singular.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PluralRule {
    /// One.
    One,
    /// Everything below two.
    BelowTwo,
    /// None: there is no singular.
    None,
}

/// The names of the parts of a day.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Periods {
    None,
    /// Before noon, after it.
    Half(&'static str, &'static str),
    /// The six that are written in Taiwan.
    Taiwan,
}

/// By [`Locale`], in the order of its variants.
#[rustfmt::skip]
static LOCALES: [LocaleData; 12] = [
    LocaleData {
        numbers: Numbers { decimal: ".", group: ",", min_grouping: 1, percent: "%", currency: CurrencyPattern::Before },
        compact: &[(3, 3, "K"), (6, 6, "M"), (9, 9, "B"), (12, 12, "T")],
        bytes: [" B", " kB", " MB", " GB", " TB", " PB"],
        durations: [(" day", " days"), (" hr", " hr"), (" min", " min"), (" sec", " sec"), (" ms", " ms")],
        plural: PluralRule::One,
        months_long: ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"],
        months_short: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
        weekdays_long: ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
        weekdays_short: ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"],
        periods: Periods::Half("AM", "PM"),
        date_short: "M/d/yy", date_medium: "MMM d, y", date_long: "MMMM d, y", date_full: "EEEE, MMMM d, y", date_day: "MMM d", date_month: "MMMM y",
        time_short: "h:mm a", time_medium: "h:mm:ss a",
        joins: [", ", ", ", " at ", " at "],
        ago: [("# second ago", "# seconds ago"), ("# minute ago", "# minutes ago"), ("# hour ago", "# hours ago"), ("# day ago", "# days ago"), ("# month ago", "# months ago"), ("# year ago", "# years ago")],
        ahead: [("in # second", "in # seconds"), ("in # minute", "in # minutes"), ("in # hour", "in # hours"), ("in # day", "in # days"), ("in # month", "in # months"), ("in # year", "in # years")],
        now: "now",
    },
    LocaleData {
        numbers: Numbers { decimal: ".", group: ",", min_grouping: 1, percent: "%", currency: CurrencyPattern::Before },
        compact: &[(3, 3, "k"), (6, 6, "m"), (9, 9, "bn"), (12, 12, "tn")],
        bytes: [" B", " kB", " MB", " GB", " TB", " PB"],
        durations: [(" day", " days"), (" hr", " hrs"), (" min", " mins"), (" sec", " secs"), (" ms", " ms")],
        plural: PluralRule::One,
        months_long: ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"],
        months_short: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec"],
        weekdays_long: ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
        weekdays_short: ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"],
        periods: Periods::None,
        date_short: "dd/MM/y", date_medium: "d MMM y", date_long: "d MMMM y", date_full: "EEEE, d MMMM y", date_day: "d MMM", date_month: "MMMM y",
        time_short: "HH:mm", time_medium: "HH:mm:ss",
        joins: [", ", ", ", " at ", " at "],
        ago: [("# second ago", "# seconds ago"), ("# minute ago", "# minutes ago"), ("# hour ago", "# hours ago"), ("# day ago", "# days ago"), ("# month ago", "# months ago"), ("# year ago", "# years ago")],
        ahead: [("in # second", "in # seconds"), ("in # minute", "in # minutes"), ("in # hour", "in # hours"), ("in # day", "in # days"), ("in # month", "in # months"), ("in # year", "in # years")],
        now: "now",
    },
    LocaleData {
        numbers: Numbers { decimal: ",", group: ".", min_grouping: 1, percent: "\u{a0}%", currency: CurrencyPattern::After },
        compact: &[(6, 6, "\u{a0}Mio."), (9, 9, "\u{a0}Mrd."), (12, 12, "\u{a0}Bio.")],
        bytes: [" B", " kB", " MB", "\u{a0}GB", " TB", " PB"],
        durations: [(" Tg.", " Tg."), (" Std.", " Std."), (" Min.", " Min."), (" Sek.", " Sek."), (" ms", " ms")],
        plural: PluralRule::One,
        months_long: ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"],
        months_short: ["Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."],
        weekdays_long: ["Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"],
        weekdays_short: ["So", "Mo", "Di", "Mi", "Do", "Fr", "Sa"],
        periods: Periods::None,
        date_short: "dd.MM.yy", date_medium: "dd.MM.y", date_long: "d. MMMM y", date_full: "EEEE, d. MMMM y", date_day: "d. MMM", date_month: "MMMM y",
        time_short: "HH:mm", time_medium: "HH:mm:ss",
        joins: [", ", ", ", " um ", " um "],
        ago: [("vor # Sekunde", "vor # Sekunden"), ("vor # Minute", "vor # Minuten"), ("vor # Stunde", "vor # Stunden"), ("vor # Tag", "vor # Tagen"), ("vor # Monat", "vor # Monaten"), ("vor # Jahr", "vor # Jahren")],
        ahead: [("in # Sekunde", "in # Sekunden"), ("in # Minute", "in # Minuten"), ("in # Stunde", "in # Stunden"), ("in # Tag", "in # Tagen"), ("in # Monat", "in # Monaten"), ("in # Jahr", "in # Jahren")],
        now: "jetzt",
    },
    LocaleData {
        numbers: Numbers { decimal: ",", group: "\u{202f}", min_grouping: 1, percent: "\u{a0}%", currency: CurrencyPattern::After },
        compact: &[(3, 3, "\u{a0}k"), (6, 6, "\u{a0}M"), (9, 9, "\u{a0}Md"), (12, 12, "\u{a0}Bn")],
        bytes: ["\u{202f}o", "\u{202f}ko", "\u{202f}Mo", "\u{202f}Go", "\u{202f}To", "\u{202f}Po"],
        durations: [("\u{202f}j", "\u{202f}j"), ("\u{202f}h", "\u{202f}h"), ("\u{a0}min", "\u{a0}min"), ("\u{202f}s", "\u{202f}s"), ("\u{202f}ms", "\u{202f}ms")],
        plural: PluralRule::BelowTwo,
        months_long: ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"],
        months_short: ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."],
        weekdays_long: ["dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"],
        weekdays_short: ["dim.", "lun.", "mar.", "mer.", "jeu.", "ven.", "sam."],
        periods: Periods::None,
        date_short: "dd/MM/y", date_medium: "d MMM y", date_long: "d MMMM y", date_full: "EEEE d MMMM y", date_day: "d MMM", date_month: "MMMM y",
        time_short: "HH:mm", time_medium: "HH:mm:ss",
        joins: [" ", ", ", " à ", " à "],
        ago: [("il y a # seconde", "il y a # secondes"), ("il y a # minute", "il y a # minutes"), ("il y a # heure", "il y a # heures"), ("il y a # jour", "il y a # jours"), ("il y a # mois", "il y a # mois"), ("il y a # an", "il y a # ans")],
        ahead: [("dans # seconde", "dans # secondes"), ("dans # minute", "dans # minutes"), ("dans # heure", "dans # heures"), ("dans # jour", "dans # jours"), ("dans # mois", "dans # mois"), ("dans # an", "dans # ans")],
        now: "maintenant",
    },
    LocaleData {
        numbers: Numbers { decimal: ",", group: ".", min_grouping: 2, percent: "\u{a0}%", currency: CurrencyPattern::After },
        compact: &[(3, 3, "\u{a0}mil"), (6, 6, "\u{a0}M"), (10, 9, "\u{a0}mil\u{a0}M"), (12, 12, "\u{a0}B")],
        bytes: [" B", " kB", " MB", " GB", " TB", " PB"],
        durations: [(" d", " d"), (" h", " h"), (" min", " min"), (" s", " s"), (" ms", " ms")],
        plural: PluralRule::One,
        months_long: ["enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"],
        months_short: ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"],
        weekdays_long: ["domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"],
        weekdays_short: ["dom", "lun", "mar", "mié", "jue", "vie", "sáb"],
        periods: Periods::None,
        date_short: "d/M/yy", date_medium: "d MMM y", date_long: "d 'de' MMMM 'de' y", date_full: "EEEE, d 'de' MMMM 'de' y", date_day: "d MMM", date_month: "MMMM 'de' y",
        time_short: "H:mm", time_medium: "H:mm:ss",
        joins: [", ", ", ", " a las ", ", "],
        ago: [("hace # segundo", "hace # segundos"), ("hace # minuto", "hace # minutos"), ("hace # hora", "hace # horas"), ("hace # día", "hace # días"), ("hace # mes", "hace # meses"), ("hace # año", "hace # años")],
        ahead: [("dentro de # segundo", "dentro de # segundos"), ("dentro de # minuto", "dentro de # minutos"), ("dentro de # hora", "dentro de # horas"), ("dentro de # día", "dentro de # días"), ("dentro de # mes", "dentro de # meses"), ("dentro de # año", "dentro de # años")],
        now: "ahora",
    },
    LocaleData {
        numbers: Numbers { decimal: ",", group: ".", min_grouping: 1, percent: "%", currency: CurrencyPattern::BeforeSpaced },
        compact: &[(3, 3, "\u{a0}mil"), (6, 6, "\u{a0}mi"), (9, 9, "\u{a0}bi"), (12, 12, "\u{a0}tri")],
        bytes: [" B", " kB", " MB", " GB", " TB", " PB"],
        durations: [(" dia", " dias"), (" h", " h"), (" min", " min"), (" s", " s"), (" ms", " ms")],
        plural: PluralRule::BelowTwo,
        months_long: ["janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"],
        months_short: ["jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."],
        weekdays_long: ["domingo", "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado"],
        weekdays_short: ["dom.", "seg.", "ter.", "qua.", "qui.", "sex.", "sáb."],
        periods: Periods::None,
        date_short: "dd/MM/y", date_medium: "d 'de' MMM 'de' y", date_long: "d 'de' MMMM 'de' y", date_full: "EEEE, d 'de' MMMM 'de' y", date_day: "d 'de' MMM", date_month: "MMMM 'de' y",
        time_short: "HH:mm", time_medium: "HH:mm:ss",
        joins: [", ", ", ", " às ", " às "],
        ago: [("há # segundo", "há # segundos"), ("há # minuto", "há # minutos"), ("há # hora", "há # horas"), ("há # dia", "há # dias"), ("há # mês", "há # meses"), ("há # ano", "há # anos")],
        ahead: [("em # segundo", "em # segundos"), ("em # minuto", "em # minutos"), ("em # hora", "em # horas"), ("em # dia", "em # dias"), ("em # mês", "em # meses"), ("em # ano", "em # anos")],
        now: "agora",
    },
    LocaleData {
        numbers: Numbers { decimal: ",", group: ".", min_grouping: 2, percent: "%", currency: CurrencyPattern::After },
        compact: &[(3, 3, "K"), (6, 6, "\u{a0}Mln"), (9, 9, "\u{a0}Mld"), (12, 12, "\u{a0}Bln")],
        bytes: [" B", " kB", " MB", " GB", " TB", " PB"],
        durations: [(" giorno", " giorni"), (" h", " h"), (" min", " min"), (" s", " s"), (" ms", " ms")],
        plural: PluralRule::One,
        months_long: ["gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"],
        months_short: ["gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"],
        weekdays_long: ["domenica", "lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato"],
        weekdays_short: ["dom", "lun", "mar", "mer", "gio", "ven", "sab"],
        periods: Periods::None,
        date_short: "dd/MM/yy", date_medium: "d MMM y", date_long: "d MMMM y", date_full: "EEEE d MMMM y", date_day: "d MMM", date_month: "MMMM y",
        time_short: "HH:mm", time_medium: "HH:mm:ss",
        joins: [", ", ", ", " alle ore ", " alle ore "],
        ago: [("# secondo fa", "# secondi fa"), ("# minuto fa", "# minuti fa"), ("# ora fa", "# ore fa"), ("# giorno fa", "# giorni fa"), ("# mese fa", "# mesi fa"), ("# anno fa", "# anni fa")],
        ahead: [("tra # secondo", "tra # secondi"), ("tra # minuto", "tra # minuti"), ("tra # ora", "tra # ore"), ("tra # giorno", "tra # giorni"), ("tra # mese", "tra # mesi"), ("tra # anno", "tra # anni")],
        now: "ora",
    },
    LocaleData {
        numbers: Numbers { decimal: ",", group: ".", min_grouping: 1, percent: "%", currency: CurrencyPattern::BeforeSpacedSignBehind },
        compact: &[(3, 3, "K"), (6, 6, "\u{a0}mln."), (9, 9, "\u{a0}mld."), (12, 12, "\u{a0}bln.")],
        bytes: [" B", " kB", " MB", " GB", " TB", " PB"],
        durations: [(" dag", " dagen"), (" uur", " uur"), (" min", " min"), (" sec", " sec"), (" ms", " ms")],
        plural: PluralRule::One,
        months_long: ["januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"],
        months_short: ["jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
        weekdays_long: ["zondag", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag"],
        weekdays_short: ["zo", "ma", "di", "wo", "do", "vr", "za"],
        periods: Periods::None,
        date_short: "dd-MM-y", date_medium: "d MMM y", date_long: "d MMMM y", date_full: "EEEE d MMMM y", date_day: "d MMM", date_month: "MMMM y",
        time_short: "HH:mm", time_medium: "HH:mm:ss",
        joins: [", ", ", ", " om ", " om "],
        ago: [("# seconde geleden", "# seconden geleden"), ("# minuut geleden", "# minuten geleden"), ("# uur geleden", "# uur geleden"), ("# dag geleden", "# dagen geleden"), ("# maand geleden", "# maanden geleden"), ("# jaar geleden", "# jaar geleden")],
        ahead: [("over # seconde", "over # seconden"), ("over # minuut", "over # minuten"), ("over # uur", "over # uur"), ("over # dag", "over # dagen"), ("over # maand", "over # maanden"), ("over # jaar", "over # jaar")],
        now: "nu",
    },
    LocaleData {
        numbers: Numbers { decimal: ".", group: ",", min_grouping: 1, percent: "%", currency: CurrencyPattern::Before },
        compact: &[(4, 4, "万"), (8, 8, "億"), (12, 12, "兆"), (16, 16, "京")],
        bytes: [" B", " KB", " MB", " GB", " TB", " PB"],
        durations: [(" 日", " 日"), (" 時間", " 時間"), (" 分", " 分"), (" 秒", " 秒"), (" ms", " ms")],
        plural: PluralRule::None,
        months_long: [""; 12],
        months_short: [""; 12],
        weekdays_long: ["日曜日", "月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日"],
        weekdays_short: ["日", "月", "火", "水", "木", "金", "土"],
        periods: Periods::None,
        date_short: "y/MM/dd", date_medium: "y/MM/dd", date_long: "y年M月d日", date_full: "y年M月d日EEEE", date_day: "M月d日", date_month: "y年M月",
        time_short: "H:mm", time_medium: "H:mm:ss",
        joins: [" ", " ", " ", " "],
        ago: [("# 秒前", "# 秒前"), ("# 分前", "# 分前"), ("# 時間前", "# 時間前"), ("# 日前", "# 日前"), ("# か月前", "# か月前"), ("# 年前", "# 年前")],
        ahead: [("# 秒後", "# 秒後"), ("# 分後", "# 分後"), ("# 時間後", "# 時間後"), ("# 日後", "# 日後"), ("# か月後", "# か月後"), ("# 年後", "# 年後")],
        now: "今",
    },
    LocaleData {
        numbers: Numbers { decimal: ".", group: ",", min_grouping: 1, percent: "%", currency: CurrencyPattern::Before },
        compact: &[(4, 4, "万"), (8, 8, "亿"), (12, 12, "万亿")],
        bytes: [" B", " kB", " MB", " GB", " TB", " PB"],
        durations: [("天", "天"), ("小时", "小时"), ("分钟", "分钟"), ("秒", "秒"), ("毫秒", "毫秒")],
        plural: PluralRule::None,
        months_long: [""; 12],
        months_short: [""; 12],
        weekdays_long: ["星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"],
        weekdays_short: ["周日", "周一", "周二", "周三", "周四", "周五", "周六"],
        periods: Periods::None,
        date_short: "y/M/d", date_medium: "y年M月d日", date_long: "y年M月d日", date_full: "y年M月d日EEEE", date_day: "M月d日", date_month: "y年M月",
        time_short: "HH:mm", time_medium: "HH:mm:ss",
        joins: [" ", " ", " ", " "],
        ago: [("#秒钟前", "#秒钟前"), ("#分钟前", "#分钟前"), ("#小时前", "#小时前"), ("#天前", "#天前"), ("#个月前", "#个月前"), ("#年前", "#年前")],
        ahead: [("#秒钟后", "#秒钟后"), ("#分钟后", "#分钟后"), ("#小时后", "#小时后"), ("#天后", "#天后"), ("#个月后", "#个月后"), ("#年后", "#年后")],
        now: "现在",
    },
    LocaleData {
        numbers: Numbers { decimal: ".", group: ",", min_grouping: 1, percent: "%", currency: CurrencyPattern::Before },
        compact: &[(4, 4, "萬"), (8, 8, "億"), (12, 12, "兆")],
        bytes: [" B", " kB", " MB", " GB", " TB", " PB"],
        durations: [(" 天", " 天"), (" 小時", " 小時"), (" 分鐘", " 分鐘"), (" 秒", " 秒"), (" 毫秒", " 毫秒")],
        plural: PluralRule::None,
        months_long: [""; 12],
        months_short: [""; 12],
        weekdays_long: ["星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"],
        weekdays_short: ["週日", "週一", "週二", "週三", "週四", "週五", "週六"],
        periods: Periods::Taiwan,
        date_short: "y/M/d", date_medium: "y年M月d日", date_long: "y年M月d日", date_full: "y年M月d日 EEEE", date_day: "M月d日", date_month: "y年M月",
        time_short: "Bh:mm", time_medium: "Bh:mm:ss",
        joins: [" ", " ", " ", " "],
        ago: [("# 秒前", "# 秒前"), ("# 分鐘前", "# 分鐘前"), ("# 小時前", "# 小時前"), ("# 天前", "# 天前"), ("# 個月前", "# 個月前"), ("# 年前", "# 年前")],
        ahead: [("# 秒後", "# 秒後"), ("# 分鐘後", "# 分鐘後"), ("# 小時後", "# 小時後"), ("# 天後", "# 天後"), ("# 個月後", "# 個月後"), ("# 年後", "# 年後")],
        now: "現在",
    },
    LocaleData {
        numbers: Numbers { decimal: ".", group: ",", min_grouping: 1, percent: "%", currency: CurrencyPattern::Before },
        compact: &[(3, 3, "천"), (4, 4, "만"), (8, 8, "억"), (12, 12, "조")],
        bytes: ["B", "kB", "MB", "GB", "TB", "PB"],
        durations: [("일", "일"), ("시간", "시간"), ("분", "분"), ("초", "초"), ("ms", "ms")],
        plural: PluralRule::None,
        months_long: [""; 12],
        months_short: [""; 12],
        weekdays_long: ["일요일", "월요일", "화요일", "수요일", "목요일", "금요일", "토요일"],
        weekdays_short: ["일", "월", "화", "수", "목", "금", "토"],
        periods: Periods::Half("오전", "오후"),
        date_short: "yy. M. d.", date_medium: "y. M. d.", date_long: "y년 M월 d일", date_full: "y년 M월 d일 EEEE", date_day: "M월 d일", date_month: "y년 M월",
        time_short: "a h:mm", time_medium: "a h:mm:ss",
        joins: [" ", " ", " ", " "],
        ago: [("#초 전", "#초 전"), ("#분 전", "#분 전"), ("#시간 전", "#시간 전"), ("#일 전", "#일 전"), ("#개월 전", "#개월 전"), ("#년 전", "#년 전")],
        ahead: [("#초 후", "#초 후"), ("#분 후", "#분 후"), ("#시간 후", "#시간 후"), ("#일 후", "#일 후"), ("#개월 후", "#개월 후"), ("#년 후", "#년 후")],
        now: "지금",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_locale_has_its_own_row() {
        for (locale, sunday) in [
            (Locale::En, "Sunday"),
            (Locale::EnGb, "Sunday"),
            (Locale::De, "Sonntag"),
            (Locale::Fr, "dimanche"),
            (Locale::Es, "domingo"),
            (Locale::PtBr, "domingo"),
            (Locale::It, "domenica"),
            (Locale::Nl, "zondag"),
            (Locale::Ja, "日曜日"),
            (Locale::ZhCn, "星期日"),
            (Locale::ZhTw, "星期日"),
            (Locale::Ko, "일요일"),
        ] {
            assert_eq!(locale.data().weekdays_long[0], sunday, "{}", locale.as_str());
        }
        assert_eq!(LOCALES.len(), Locale::ALL.len());
        assert_eq!(Locale::ZhCn.data().compact[1].2, "亿");
        assert_eq!(Locale::PtBr.data().date_day, "d 'de' MMM");
    }

    #[test]
    fn compact_steps_ascend() {
        for locale in Locale::ALL {
            let steps = locale.data().compact;
            assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
            assert!(steps.iter().all(|(from, divided, _)| divided <= from));
        }
    }
}
