import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as spanish } from '@orama/stemmers/spanish';

/** Languages whose words are stemmed. Texts of others are treated as English, whose stemmer leaves them mostly alone. */
export type Language = 'en' | 'de' | 'fr' | 'es';

/** Snowball's stemmers (https://snowballstem.org). */
export const stemmers = { de: german, fr: french, es: spanish } as const;

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

/** Words without a subject of their own, by which a text's language is also told. */
export const functionWords: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: wordSet(
    `a about above after again all also am an and any are as at be because been before being below between both but by can
could did do does doing don down during each few for from further had has have having he her here hers him his how i if
in into is it its just let ll me more most my no nor not now of off on once only or other our out over own re s same she
should so some such t than that the their them then there these they this those through to too under until up ve very
was we were what when where which while who whom whose why will with would you your yours tell please know get got`,
  ),
  de: wordSet(
    `der die das des dem den ein eine einer eines einem einen und oder aber nicht ist sind war waren wird werden wurde wurden
worden sein seine seiner hat haben hatte kann können muss müssen soll sollen darf dürfen wie was wer wo wann warum
welche welcher welches für auf aus bei mit nach von vom zu zum zur im in an am über unter durch gegen ohne um bis als
wenn dass auch nur noch so sich er sie es wir ihr ich man mir mich uns mein dein ihre dieser diese dieses diesem diesen
es gilt gibt sowie falls bitte`,
  ),
  fr: wordSet(
    `le la les un une des du de d l et ou mais ne pas n est sont était être a ont avait avoir peut peuvent doit doivent ce
cet cette ces c qui que qu quoi quel quelle quels quelles où quand comment pourquoi combien dans sur sous avec sans pour
par entre vers chez en au aux il elle ils elles on nous vous je tu se s son sa ses leur leurs mon ma mes notre votre si
plus aussi comme dont y dit texte`,
  ),
  es: wordSet(
    `el la los las un una unos unas de del y e o u pero no es son era ser está están ha han había haber puede pueden debe
deben este esta estos estas ese esa eso que qué quién cuál cuáles cómo cuándo dónde cuánto cuánta cuántos por para con sin
en sobre entre hasta desde a al se su sus lo le les me te nos mi tu si sí más también como ya muy dice`,
  ),
};

/** Number of stretches of a text that are read to tell its language, and their length in UTF-16 units. */
const SAMPLES = 4;
const SAMPLE = 160;
/**
 * Parts of the sampled words: function words of English from which on nothing else is tried; those of another language, which
 * must also be so many times as many as those of English.
 */
const LEAST = { english: 0.25, share: 0.12, times: 1.5 };

/** The language of units that follow one another: the one whose function words are the most frequent. */
export function languageOf(units: readonly string[]): Language {
  const step = Math.max(1, Math.ceil(units.length / SAMPLES));
  let sample = '';
  for (let at = 0; at < units.length; at += step) sample += ` ${(units[at] ?? '').slice(0, SAMPLE)}`;
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  let best: Language = 'en';
  const english = words.filter((word) => functionWords.en.has(word)).length;
  if (english > words.length * LEAST.english) return 'en';
  let most = english * LEAST.times;
  for (const language of ['de', 'fr', 'es'] as const) {
    const found = words.filter((word) => functionWords[language].has(word)).length;
    if (found <= most || found < words.length * LEAST.share) continue;
    best = language;
    most = found;
  }
  return best;
}
