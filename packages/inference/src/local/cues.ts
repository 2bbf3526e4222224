/** What a question asks for, and what a sentence that answers it shows. */
interface Cue {
  readonly asks: RegExp;
  readonly shows: RegExp;
  /** Whether a sentence without it cannot answer the question, however well it fits otherwise. */
  readonly needed: boolean;
}

const month =
  'Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?';
const weekday = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?';
const numberWord =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million|billion|dozen|half|none|no|un[oae]?|deux|trois|zwei|drei|vier|dos|tres';
const amount = new RegExp(`\\p{N}|\\b(?:${numberWord})\\b|[一二三四五六七八九十百千万]`, 'iu');
const time = new RegExp(
  `\\b\\d{3,4}s?\\b|\\d+[:h]\\d\\d|\\b(?:${month}|${weekday})\\b|\\b\\d{1,2}(?:st|nd|rd|th)\\b|\\d+\\s?(?:am|pm|a\\.m|p\\.m|o.clock)|\\d[年月日時时点년월일시]|\\b(?:today|tomorrow|yesterday|noon|midnight|morning|evening|night|centur\\w*|weeks?|days?|years?|months?|hours?|minutes?|annual\\w*|daily|weekly|monthly|every|after|before|until|during|when|once)\\b|\\b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|januar|februar|märz|mai|juni|juli|oktober|dezember|montag|lundi|lunes)\\b`,
  'iu',
);
const duration =
  /(?:\p{N}|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|few|several)\b)[\s-]*(?:\p{L}+\s)?(?:milli|micro|nano)?(?:seconds?|s|ms|minutes?|mins?|hours?|h|days?|weeks?|months?|years?|decades?|centuries|métres|metres?|meters?|km|kilomet\p{L}+|miles?|feet|ft|cm|mm|inch\p{L}*|jours|heures|ans|días|años|horas|Tage|Stunden|Jahre|年|天|日|小时|分|時間|시간|일)/iu;
const name =
  /(?<=[\p{Ll}\p{N},:;("“] )["“(]?\p{Lu}\p{L}+|^\p{Lu}\p{L}+(?: (?:\p{Lu}[\p{L}.]+|de|van|von|bin))+|^(?!(?:The|A|An|This|That|These|Those|It|In|On|At|There|Its|All|Each|For|If|When|We|You|Our)\b)\p{Lu}\p{L}+ (?:is|was|has|will|did|can)|[\u3400-\u9fff\uac00-\ud7af\u30a0-\u30ff]{2}|@\w/u;
const place =
  /\b(?:in|at|near|on|from|to|inside|under|behind|beside|next to|via|en|à|au|in der|im|bei|a|nel)\s|[在于で에]|:\/\/|\//iu;
const reason =
  /\b(?:because|since|due|caused?|causes|owing|reason|so that|in order|to (?:avoid|prevent|keep|reduce|make|protect|save)|thanks|as a result|therefore|led|porque|debido|parce|car|à cause|weil|wegen|denn|perché)\b|因为|由于|ため|から|때문/iu;
const money =
  /[$€£¥₹₩]|\b(?:USDC?|EUR|GBP|JPY|CHF|dollars?|euros?|pounds?|pence|cents?|crowns?|kron\p{L}+|francs?|pesos?|rupees?|yen|yuan|won|free|gratis|kostenlos|gratuit)\b|[元円원]/iu;
const url = /https?:\/\/|www\.|[\w.-]+@[\w.-]+|\+?\d[\d\s().-]{6,}/i;

const cues: readonly Cue[] = [
  {
    asks: /\bhow much\b.*\b(?:cost|pay|charged?|price)\b|\b(?:price|cost|fee) of\b|combien coûte|wie ?viel kostet|cuánto cuesta|quanto costa|多少钱|いくら|얼마/iu,
    shows: money,
    needed: true,
  },
  {
    asks: /\bhow (?:long|far|tall|high|deep|wide|old)\b|combien de temps|wie (?:lange|weit|alt)|cuánto tiempo|多久|多长/iu,
    shows: duration,
    needed: true,
  },
  {
    asks: /\bhow (?:many|much|often|big|large|fast|heavy|expensive)\b|\b(?:cost|price|percent|percentage|number of|amount)\b|combien|wie ?viele?|cuánt|quant[oiae]\b|多少|几个|いくら|いくつ|얼마|몇/iu,
    shows: amount,
    needed: true,
  },
  {
    asks: /\bwhen\b|\bwhat (?:time|date|day|year|month)\b|\b(?:which|in what) (?:year|month|day|century)\b|\bquand\b|\bwann\b|\bcuándo\b|\bquando\b|什么时候|何时|哪年|哪一年|いつ|何年|언제/iu,
    shows: time,
    needed: true,
  },
  {
    asks: /\bwho(?:m|se)?\b|\bqui\b|\bwer\b|\bwem\b|\bwen\b|\bquién|\bquem\b|\bchi\b|谁|誰|だれ|누구|누가/iu,
    shows: name,
    needed: true,
  },
  {
    asks: /\bwhere\b|\bwhich (?:city|country|place|room|building)\b|\boù\b|\bwo\b|\bdónde\b|\bonde\b|\bdove\b|哪里|どこ|어디/iu,
    shows: place,
    needed: false,
  },
  {
    asks: /\bwhy\b|\bpourquoi\b|\bwarum\b|por qu[eé]|\bperché\b|为什么|なぜ|왜/iu,
    shows: reason,
    needed: false,
  },
  { asks: /\b(?:e-?mail|phone|telephone|website|url|address|link|number)\b/iu, shows: url, needed: false },
];

/** What an answer to the question shows; null where any sentence will do. */
export function cueOf(question: string): Pick<Cue, 'shows' | 'needed'> | null {
  return cues.find(({ asks }) => asks.test(question)) ?? null;
}

const summary =
  /\b(?:summari[sz]e|summari[sz]ing|summary|sum up|tl;?dr|condense|gist|key (?:points|takeaways|facts)|main (?:points?|ideas?)|takeaways|overview|recap|shorten|abstract of|boil \w+ down|in a nutshell)\b|\br[eé]sum(?:e[rz]?|é|ons)\b|zusammenfass|fass\w* .{0,60}zusammen|\bresum(?:e|ir|en|o|a)\b|\briassum|总结|總結|概括|摘要|要約|まとめ|요약/iu;

export function asksForSummary(text: string): boolean {
  return summary.test(text);
}

const question =
  /[?？¿]["'”’»)\]*_]*\s*$|^["'“(*]*(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|do|does|did|can|could|should|will|would|has|have|had|may)\b(?!.*[.:]$)|吗[。？]?$|ですか|ますか/iu;

export function isQuestion(text: string): boolean {
  return question.test(text);
}

const order =
  /^["'“(*]*(?:please,? |kindly |now,? |then,? |could you |can you |i (?:want|need|would like) (?:you )?to )*(?:find|list|tell|give|show|name|extract|explain|describe|identify|quote|state|look up|get|say|mention|define|answer|summari[sz]e|condense|shorten|recap|write a summary|provide|outline|sum up|fass|resum|résum|nenne|trouve|donne|encuentra)\b|^(?:请|总结|概括|列出)|ください|教えて|要約|まとめ|요약/iu;

/** Whether a sentence asks for something without being a question. */
export function isOrder(text: string): boolean {
  return order.test(text) || asksForSummary(text);
}

const aboutAnswering =
  /\b(?:question|answer|answers|context|passage|document|text|below|above|following|assistant|concise|concisely|helpful|sentences?|words|json|language|user|bullet|brief|briefly|know|information|material)\b/i;
const instruction =
  /^(?:you are|you're|you will|your (?:task|job|role|answer)|answer|respond|reply|use (?:only|the)|do not|don't|never|always|be |act as|given|based on|according|read|consider|here (?:is|are)|below|the following|only |if (?:you|the answer)|please|think|keep|limit)\b/i;

/** Whether a sentence tells the model how to answer and is no material to answer from. */
export function isInstruction(text: string): boolean {
  return (
    /^you(?: are|'re| will) (?:an?|the|my|now) /i.test(text) ||
    (instruction.test(text) && aboutAnswering.test(text))
  );
}
