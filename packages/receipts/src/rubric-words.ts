/**
 * The English vocabulary of the recommender. Each expression is global and names whole words; the lookarounds keep out
 * the everyday uses that only look alike ("tennis court", "power bank", "price including tax").
 */

/** Laws, authorities and supervised activities. */
const LAWS = [
  /\b(?:gdpr|ccpa|hipaa|hitech|sarbanes|glba|ferpa|coppa|mifid|mifir|emir|dodd[- ]frank|finra|cftc|esma|bafin|finma|ofac|fatf|psd[23]|eidas|fedramp|cmmc|fisma|gxp|kyc|kyb|aml|phi|pii)\b/gi,
  /\b(?:mica regulation|solvency ii|basel (?:ii|iii|iv)|nis ?2|soc ?[12]|iso ?(?:27001|13485)|21 cfr|ai act)\b/gi,
  /(?<!\b(?:red|white) )\bsox\b/gi,
  /\bpci\b(?![- ](?:express|slot|bus|card\b(?! (?:data|holder))))/gi,
  // In capitals only, because in small letters these are everyday words: "sec" for second, the name Dora.
  /\b(?:SEC|FCA|FDA|EMA|IRS|HMRC|DORA|MiCA|GMP)\b/g,
  /\bsec (?:filings?|rules?|registered)\b/gi,
  /\b(?:regulated|regulations?|regulatory)\b/gi,
  /(?<!\b(?:voltage|pressure|gas|temperature|flow|current|power|diving) )\bregulators?\b/gi,
  /\bcompliance\b/gi,
  /(?<![-\d]|\b(?:standards?|usb|rfc) )\bcompliant\b/gi,
  /\baudit(?:s|ed|ing|or|ors|able)?\b/gi,
  /\b(?:sanctions?|customs|export controls?|anti-money|money laundering|due diligence|background checks?|whistleblow\w*)\b/gi,
];

/** Law, health, finance and government: their people, places and records. */
const FIELDS = [
  /\b(?:legal(?:ly)?|litigat\w*|lawsuits?|subpoenas?|statut(?:e|es|ory)|attorneys?|law firms?|law enforcement|notar(?:y|ies|ial|i[sz]ed)|evidence)\b/gi,
  /(?<!\b(?:tennis|food|basketball|squash|badminton|padel|volleyball|handball) )\bcourts?\b(?! shoes?)/gi,
  /\b(?:medical|clinical|clinics?|surger(?:y|ies)|surgical|dental|dentists?|hospitals?|physicians?|doctors?|prescriptions?|pharma\w*|telehealth|biometrics?|diagnos(?:is|es))\b/gi,
  /(?<!\bbe )\bpatients?\b/gi,
  /\b(?:healthcare|health[- ](?:care|records?|data|insur\w*)|public health|personal data)\b/gi,
  /\b(?:banking|securities|stocks|bonds|equities|derivatives|brokerages?|broker-dealers?|stock ?brokers?|pensions?|fiduciar(?:y|ies)|mortgages?|loans?|lenders?|underwrit\w*|custodians?|credit (?:scores?|reports?|unions?|decisions?|institutions?)|(?:mutual|hedge|investment) funds?|asset managers?|investment (?:advi[cs]e|advisers?|advisors?|firms?)|treasury bills?)\b/gi,
  /(?<!\b(?:power|food|river|data|question|seed|piggy|image|memory|left|right|west|east) )\bbanks?\b(?!-?\s?(?:transfers?|cards?|details|accounts?|holidays?|notes?|statements?))/gi,
  /\b(?:insurance|insurers?|reinsur\w*|remittances?|money (?:transmitters?|transfer operators?|services? business(?:es)?)|payroll|gambling|casinos?|firearms?|controlled substances?)\b/gi,
  /(?<!\b(?:including|incl\.?|plus|before|after|excluding|excl\.?|with|without|sales|and) )\btax(?:es|ation)?\b(?!-free| free| included| excluded)/gi,
  /\b(?:government|ministry|ministries|municipalit(?:y|ies)|federal|public (?:authority|authorities|sector)|elections?)\b/gi,
];

/** Words that say that law, authority or supervision stands behind the call. */
export const REGULATED: readonly RegExp[] = [...LAWS, ...FIELDS];

const OVER_ONE =
  '(?:[2-9]|[1-9]\\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty)';
const OVER_TWELVE = '(?:1[3-9]|[2-9]\\d|[1-9]\\d\\d|eighteen)';

/** Words that ask for more than the 365 days for which a standard receipt is kept. */
export const KEPT_LONG: readonly RegExp[] = [
  /(?<!\b(?:customer|user|employee|staff|client|audience|water|fluid|short|low|minimal|brief|\d-days?) )\bretention\b(?!(?: period)?(?: of|:| is|=)? ?(?:up to |only |just )?(?:short|low|minimal|none|zero|brief|(?:\d|[1-9]\d|[12]\d\d)[- ]?(?:days?|hours?|weeks?)|(?:1[0-2]|[1-9])[- ]?months?)\b)/gi,
  /\b(?:record-?keeping|record keeping|long[- ]term|post[- ]?quantum|quantum[- ](?:safe|resistant|proof)|permanently|indefinitely|forever|for ever|in perpetuity|decades?)\b/gi,
  /(?<!\b(?:zip|tar|jar|rar|compressed) )\barchiv(?:e|es|ed|al|ing)\b(?!\.org)/gi,
  new RegExp(
    `\\b${OVER_ONE}[- ]?(?:years?|yrs?)(?![- ](?:old|of age|of experience|ago|aged|anniversar(?:y|ies)|of (?:hosting|service|support|membership|subscription)))\\b`,
    'gi',
  ),
  new RegExp(`\\b${OVER_TWELVE}[- ]months?(?![- ](?:old|of age|of experience|ago))\\b`, 'gi'),
];

/** Words for making sure of something. A check that is money, and checking out or in, are none. */
export const VERIFIES: readonly RegExp[] = [
  /\b(?:verif(?:y|ies|ied|ying|ications?|iers?)|validat(?:e|es|ed|ing|ions?|ors?)|attest(?:s|ed|ing|ations?)?|authenticat(?:e|es|ed|ing|ion)|heartbeats?|liveness)\b/gi,
  /\bping(?:s|ed|ing)?\b(?!-pong| pong)/gi,
  /\b(?:health|status|signature|integrity|sanity|spot|uptime|availability|liveness)[- ]check(?:s|ed|ing)?\b/gi,
  /(?<!\b(?:a|an|the|by|with|via|per|paper|personal|blank|bank|certified|cashier[’']s|traveller[’']s) )\bcheck(?:s|ed|ing)? (?!out\b|in\b|into\b|accounts?\b|books?\b|numbers?\b|payments?\b)\w+/gi,
];

/** Before a word that could be a verb, these make it the name of a thing: "the order", "verify order 7". */
const NAMED =
  '(?:the|an?|this|that|each|every|its|their|your|our|my|of|last|past|verif(?:y|ies|ied|ying)|validat(?:e|es|ing)|check(?:s|ing)?)';

/** Doing business: what is said to be done. */
export const TRADES: readonly RegExp[] = [
  new RegExp(
    `(?<!\\b${NAMED} )\\b(?:pay(?:s|ing)?|paid|buy(?:s|ing)?|bought|sell(?:s|ing)?|sold|purchas(?:e|es|ed|ing)|order(?:s|ed|ing)?|refund(?:s|ed|ing)?|transfer(?:s|red|ring)?|settl(?:e|es|ed|ing)|subscrib(?:e|es|ed|ing)|charg(?:e|es|ed|ing)|remit(?:s|ted)?|leas(?:e|es|ed|ing)|rent(?:s|ed|ing)?|hir(?:e|es|ed|ing)|donat(?:e|es|ed|ing)|swap(?:s|ped|ping)?|withdraw(?:s|ing)?|trad(?:e|es|ed|ing)|top up|check-?out|check out)\\b`,
    'gi',
  ),
  /\breleas(?:e|es|ed|ing) (?:the |an? )?(?:payments?|funds?|money|escrow)\b/gi,
];

/** Things of business: with money at stake, one of them makes verifying a part of a deal. */
export const DEALS: readonly RegExp[] = [
  ...TRADES,
  /\b(?:payments?|invoices?|orders?|purchases?|sales?|settlements?|subscriptions?|transactions?|deposits?|escrow|prices?|fees?)\b/gi,
];

/** Words for an amount under a cent. */
export const UNDER_A_CENT: readonly RegExp[] = [
  /\b(?:sub-?cent|(?:micro|nano)-?payments?|fractions? of a cent|(?:less than|under|below) (?:a|one) cent)\b/gi,
];
