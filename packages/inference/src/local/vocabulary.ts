/** Stop words of the languages that this model knows. */
const stopWords = new Set(
  `a an the this that these those it its he him his she her hers they them their theirs we us our ours you your yours
  i me my mine myself itself themselves who whom whose which what when where why how is am are was were be been being
  do does did doing done has have had having will would shall should can could may might must ought of in on at by for
  with about against between into through during before after above below to from up down out off over under again
  further then once here there all any both each few more most other some such no nor not only own same so than too
  very s t d ll m re ve just don and but if or because as until while also please tell say give show find explain
  describe list name know want need according question answer context text passage document following exactly
  much many long often far old kind sort type let get got make made
  el la los las un una unos unas de del al y o u en que qué quién quien quiénes cuándo cuando cuánto cuánta cuántos
  cuántas dónde donde cómo como por para con sin se su sus lo le les es son fue era ser está están hay más muy este esta
  le les un une des du au aux et ou en que qui quoi quand combien où pourquoi comment est sont était a été être il elle
  ils elles on se sa son ses ce cette ces dans par pour sur avec sans ne pas plus d l s c n j
  der die das den dem des ein eine einen einem einer und oder wer wen wem wann wo wie viel viele warum was welche welcher
  welches ist sind war waren wird wurde wurden hat haben hatte zu zum zur von vom im in am an auf mit für nicht sich es er
  sie wir ihr bei nach aus als auch
  il lo gli uno di da nel nella nei che chi quando quanto quanti dove perché come è sono era stato della dei delle
  o os as um uma do da dos das no na nos nas quem quando quanto quantos onde porque foi são ao à`
    .split(/\s+/)
    .map(plain),
);

/** Words with one meaning for a question; each group counts as its first word. */
const sameMeaning = new Map(
  [
    'found establish start create launch begin founder founding creation',
    'buy purchase acquire bought acquisition',
    'price cost fee charge rate priced pay expensive',
    'boss head lead ceo chief director run manage manager leader',
    'write author wrote written writer',
    'die death dead died',
    'born birth birthday birthplace',
    'end finish expire stop close terminate cancel',
    'big large size',
    'fast speed quick',
    'build construct built construction',
    'invent inventor invention develop devise discover discoverer discovery',
    'make manufacture produce maker producer manufacturer',
    'live reside home residence',
    'work job employ employee',
    'fix repair solve resolve',
    'fail failure crash break broke broken outage',
    'cause reason',
    'allow permit permission permitted',
    'limit maximum max cap',
    'phone telephone call',
    'mail email',
    'meet meeting met',
    'win won winner victory',
    'send sent',
    'return refund',
    'high height tall elevation',
    'deep depth',
    'wide width',
    'weigh weight heavy',
    'go went gone',
    'teach taught teacher',
    'sell sold sale',
    'hold held',
    'speak spoke language',
    'locate location located situated place',
    'due deadline',
    'movie film',
    'doctor physician',
    'car vehicle automobile',
  ].flatMap((group) => {
    const [head = '', ...others] = group.split(' ').map((word) => stem(plain(word)));
    return others.map((word) => [word, head] as const);
  }),
);

/** The form in which a word is compared; null for a stop word. */
export function termOf(word: string): string | null {
  const bare = plain(word);
  if (stopWords.has(bare)) return null;
  const root = stem(bare);
  return sameMeaning.get(root) ?? root;
}

/** In lower case, without accents. */
function plain(word: string): string {
  const lower = word.toLowerCase();
  return isAscii(lower) ? lower : lower.normalize('NFKD').replaceAll(/\p{M}/gu, '');
}

/** Only other texts need the slow way. */
function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** Removes English endings. Texts in other languages are changed the same way in question and answer. */
function stem(word: string): string {
  if (word.length < 4 || word.charCodeAt(0) < 58) return word;
  let root = word;
  if (root.endsWith('ies') && root.length > 4) root = `${root.slice(0, -3)}y`;
  else if (/(?:s|x|z|ch|sh)es$/.test(root)) root = root.slice(0, -2);
  else if (root.endsWith('s') && !/(?:ss|us|is)$/.test(root)) root = root.slice(0, -1);
  if (/[aeiouy].*ing$/.test(root) && root.length > 5) root = single(root.slice(0, -3));
  else if (/[aeiouy].*ed$/.test(root) && root.length > 4) root = single(root.slice(0, -2));
  else if (root.endsWith('ly') && root.length > 5) root = root.slice(0, -2);
  if (root.endsWith('e') && root.length > 3) root = root.slice(0, -1);
  if (root.endsWith('y') && root.length > 3) root = `${root.slice(0, -1)}i`;
  return root;
}

function single(root: string): string {
  return /([bdgmnprt])\1$/.test(root) ? root.slice(0, -1) : root;
}
