//! Currencies: the codes of ISO 4217, their digits and their signs.

use super::locale::Locale;

/// A currency of ISO 4217.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Currency {
    code: &'static str,
    /// Its signs by locale, looked up once: amounts are written by the thousand.
    signs: &'static [&'static str; 12],
}

impl Currency {
    /// Reads a code in capitals.
    pub(crate) fn parse(code: &str) -> Option<Self> {
        let code = CODES.split_ascii_whitespace().find(|known| *known == code)?;
        let row = SIGNS.binary_search_by(|(known, _)| (*known).cmp(code)).ok();
        let signs = row.map_or(&NO_SIGNS, |row| &SIGNS[row].1);
        Some(Self { code, signs })
    }

    /// Returns every code.
    pub(crate) fn codes() -> impl Iterator<Item = &'static str> {
        CODES.split_ascii_whitespace()
    }

    pub(crate) const fn code(&self) -> &'static str {
        self.code
    }

    /// Returns how many digits amounts have behind the point.
    pub(crate) fn digits(&self) -> u8 {
        let is_in = |codes: &str| codes.split_ascii_whitespace().any(|code| code == self.code());
        match (is_in(WITHOUT_DIGITS), is_in(WITH_THREE_DIGITS)) {
            (true, _) => 0,
            (_, true) => 3,
            (false, false) => 2,
        }
    }

    /// Returns the sign that the locale has for it, else its code.
    pub(crate) fn sign(&self, locale: Locale) -> &'static str {
        let sign = self.signs[locale as usize];
        if sign.is_empty() { self.code } else { sign }
    }
}

#[rustfmt::skip]
const CODES: &str = "\
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD \
    CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD \
    GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD \
    KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO \
    NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE \
    SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND \
    VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG";

#[rustfmt::skip]
const WITHOUT_DIGITS: &str = "\
    AFN ALL BIF CLP COP DJF GNF HUF IDR IQD IRR ISK JPY KMF KPW KRW LAK LBP MGA MMK PKR PYG RSD RWF \
    SOS SYP UGX VND VUV XAF XOF XPF YER";
const WITH_THREE_DIGITS: &str = "BHD JOD KWD LYD OMR TND";

static NO_SIGNS: [&str; 12] = [""; 12];

/// The signs by locale; empty where the code is written.
#[rustfmt::skip]
static SIGNS: &[(&str, [&str; 12])] = &[
    ("ARS", ["", "", "", "$AR", "", "", "", "", "", "", "", ""]),
    ("AUD", ["A$", "A$", "AU$", "$AU", "", "AU$", "A$", "AU$", "A$", "AU$", "AU$", "AU$"]),
    ("BMD", ["", "", "", "$BM", "", "", "", "", "", "", "", ""]),
    ("BND", ["", "", "", "$BN", "", "", "", "", "", "", "", ""]),
    ("BRL", ["R$", "R$", "R$", "R$", "", "R$", "", "R$", "R$", "R$", "R$", "R$"]),
    ("BZD", ["", "", "", "$BZ", "", "", "", "", "", "", "", ""]),
    ("CAD", ["CA$", "CA$", "CA$", "$CA", "", "CA$", "CA$", "C$", "CA$", "CA$", "CA$", "CA$"]),
    ("CLP", ["", "", "", "$CL", "", "", "", "", "", "", "", ""]),
    ("CNY", ["CN¥", "CN¥", "CN¥", "", "", "CN¥", "CN¥", "CN¥", "元", "¥", "CN¥", "CN¥"]),
    ("COP", ["", "", "", "$CO", "", "", "", "", "", "", "", ""]),
    ("EUR", ["€", "€", "€", "€", "€", "€", "€", "€", "€", "€", "€", "€"]),
    ("FJD", ["", "", "", "$FJ", "", "", "", "FJ$", "", "", "", ""]),
    ("FKP", ["", "", "", "£FK", "", "", "", "", "", "", "", ""]),
    ("GBP", ["£", "£", "£", "£GB", "", "£", "£", "£", "£", "£", "£", "£"]),
    ("GIP", ["", "", "", "£GI", "", "", "", "", "", "", "", ""]),
    ("HKD", ["HK$", "HK$", "HK$", "", "", "HK$", "", "HK$", "HK$", "HK$", "HK$", "HK$"]),
    ("ILS", ["₪", "₪", "₪", "₪", "", "₪", "₪", "₪", "₪", "₪", "₪", "₪"]),
    ("INR", ["₹", "₹", "₹", "₹", "", "₹", "", "₹", "₹", "₹", "₹", "₹"]),
    ("JPY", ["¥", "JP¥", "¥", "", "", "JP¥", "", "JP¥", "￥", "JP¥", "¥", "JP¥"]),
    ("KRW", ["₩", "₩", "₩", "₩", "", "₩", "", "₩", "₩", "₩", "￦", "₩"]),
    ("LBP", ["", "", "", "£LB", "", "", "", "", "", "", "", ""]),
    ("MXN", ["MX$", "MX$", "MX$", "$MX", "", "MX$", "", "MX$", "MX$", "MX$", "MX$", "MX$"]),
    ("NAD", ["", "", "", "$NA", "", "", "", "", "", "", "", ""]),
    ("NZD", ["NZ$", "NZ$", "NZ$", "$NZ", "", "NZ$", "NZ$", "NZ$", "NZ$", "NZ$", "NZ$", "NZ$"]),
    ("PHP", ["₱", "₱", "", "", "", "", "₱", "", "", "", "", ""]),
    ("SBD", ["", "", "", "$SB", "", "", "", "SI$", "", "", "", ""]),
    ("SGD", ["", "", "", "$SG", "", "", "", "", "", "", "", ""]),
    ("SRD", ["", "", "", "$SR", "", "", "", "", "", "", "", ""]),
    ("THB", ["", "", "฿", "", "฿", "฿", "฿", "฿", "", "", "", ""]),
    ("TTD", ["", "", "", "$TT", "", "", "", "", "", "", "", ""]),
    ("TWD", ["NT$", "NT$", "NT$", "", "", "NT$", "", "NT$", "NT$", "NT$", "$", "NT$"]),
    ("USD", ["$", "US$", "$", "$US", "US$", "US$", "", "US$", "$", "US$", "US$", "US$"]),
    ("UYU", ["", "", "", "$UY", "", "", "", "", "", "", "", ""]),
    ("VND", ["₫", "₫", "₫", "₫", "₫", "₫", "", "₫", "₫", "₫", "₫", "₫"]),
    ("WST", ["", "", "", "$WS", "", "", "", "", "", "", "", ""]),
    ("XAF", ["FCFA", "FCFA", "FCFA", "FCFA", "", "FCFA", "FCFA", "FCFA", "FCFA", "FCFA", "FCFA", "FCFA"]),
    ("XCD", ["EC$", "EC$", "EC$", "", "", "EC$", "EC$", "EC$", "EC$", "EC$", "EC$", "EC$"]),
    ("XOF", ["F\u{202f}CFA", "F\u{202f}CFA", "F\u{202f}CFA", "F\u{202f}CFA", "", "F\u{202f}CFA", "F\u{202f}CFA", "F\u{202f}CFA", "F\u{202f}CFA", "F\u{202f}CFA", "F\u{202f}CFA", "F\u{202f}CFA"]),
    ("XPF", ["CFPF", "CFPF", "CFPF", "FCFP", "CFPF", "CFPF", "CFPF", "", "CFPF", "CFPF", "CFPF", "CFPF"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_digits_and_signs() {
        let currency = |code| Currency::parse(code).unwrap();
        assert_eq!(
            (currency("EUR").digits(), currency("JPY").digits(), currency("KWD").digits()),
            (2, 0, 3)
        );
        assert_eq!(currency("USD").sign(Locale::En), "$");
        assert_eq!(currency("USD").sign(Locale::Fr), "$US");
        assert_eq!(currency("CHF").sign(Locale::De), "CHF");
        assert_eq!(Currency::parse("eur"), None);
        assert_eq!(Currency::parse("XXX"), None);
    }

    #[test]
    fn the_signs_are_sorted_so_that_they_are_found() {
        assert!(SIGNS.is_sorted_by_key(|(code, _)| *code));
        assert!(SIGNS.iter().all(|(code, _)| Currency::parse(code).is_some()));
    }
}
