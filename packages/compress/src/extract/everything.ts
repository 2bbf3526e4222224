/** Things of which there are many in a text, in their plural. */
const many =
  '(?:rows|lines|entries|records|items|errors|warnings|names|dates|failures|columns|files|occurrences|messages|requests|tests|pods|orders|invoices|customers|users|tickets|events|calls|commits|issues|answers|questions|transactions|payments|packages|words|paragraphs|sections|Zeilen|Einträge|Fehler|Warnungen|Bestellungen|Rechnungen|Kunden|Nutzer|Namen|Daten|Dateien|Nachrichten|Aufträge|Tests|lignes|entrées|erreurs|avertissements|commandes|factures|clients|noms|dates|fichiers|messages|filas|líneas|entradas|errores|advertencias|pedidos|facturas|clientes|usuarios|nombres|fechas|archivos|mensajes)';
/** Letters and digits of any language on neither side: `\b` knows those of English. */
const start = String.raw`(?<![\p{L}\p{N}])`;
const end = String.raw`(?![\p{L}\p{N}])`;
const phrase = (pattern: string): RegExp => new RegExp(`${start}(?:${pattern})${end}`, 'iu');

const everything = [
  // The whole text in other words, or looked through.
  phrase(
    'translate|proof-?read|spell-?check|transcribe|anonymi[sz]e|redact|pseudonymi[sz]e|reformat|copy-?edit|übersetze?n?|korrigiere?n?|lektoriere?n?|anonymisiere?n?|traduis|traduisez|traduire|corrige[sz]?|anonymise[sz]?|traduce|traduzca|traducir|corrija|anonimiza',
  ),
  phrase(
    'word for word|verbatim|leav(?:e|ing) (?:nothing|none) out|without (?:omitting|leaving (?:out )?any)|in full|in its entirety|from (?:beginning|start) to (?:end|finish)|line by line|Wort für Wort|Zeile für Zeile|vollständig|lückenlos|mot à mot|ligne par ligne|en entier|intégralement|palabra por palabra|línea por línea|por completo|íntegramente',
  ),
  // Sums, counts and extremes of what is listed.
  phrase(
    `add up|sum up the|the (?:sum|total|average|mean|median|maximum|minimum) of|sum of|total (?:of|amount of) (?:all|the)|count (?:all|the|every|how many)|(?:total )?number of (?:\\p{L}+ )?${many}|(?:what is|find|give|tell) (?:me )?the (?:maximum|minimum|average|median|sum|total)(?! (?:length|height|width|weight|size|duration))`,
  ),
  phrase(
    `(?:die )?Summe (?:aller|der)|addiere|summiere|zähle?|zählt|Gesamtzahl|Anzahl (?:der|aller)|Durchschnitt (?:aller|der)|la somme (?:de|des)|additionne[sz]?|compte[sz]? (?:les|tous|toutes|combien)|nombre (?:total )?(?:de|des|d['’]) ?${many}|la moyenne (?:de|des)|la suma de|suma (?:los|las|todos|todas)|cuenta (?:los|las|todos|todas|cuántos|cuántas)|número (?:total )?de ${many}|el promedio de|la media de`,
  ),
  phrase(
    'how many (?:rows|lines|entries|errors|warnings|columns|files|occurrences|messages|requests|pods|tests|failures)|how many times .*(?:appear|occur|happen|mentioned|fail|go off|went off)\\p{L}*',
  ),
  // How many there are, where nothing follows by which the one place could be found that says so.
  new RegExp(
    `(?:^|[.!?:\\n¿])\\s*(?:how many|wie ?viele|combien (?:de |d['’])|cuánt[oa]s)\\s*(?:\\p{L}+ )?(?:${many}|\\p{L}+ (?:are there|were there|exist|in total))(?: [\\p{L}-]+){0,3}\\s*(?:[?.!]|$)`,
    'imu',
  ),
  // Lists that must be complete.
  phrase(
    '(?:list|name|enumerate|extract|find|give|show|return|print|output|collect|summari[sz]e) (?:me |us )?(?:all|every|each|everything|a (?:complete|full) list)',
  ),
  phrase(`(?:alle|sämtliche|tous les|toutes les|todos los|todas las) (?:\\p{L}+ )?${many}`),
  phrase(
    `(?:all|every|each) (?:of )?(?:the |these |those )?(?:\\p{L}+ )?${many}|every (?:single )?(?:row|line|entry|record|item|error|warning|name|date|order|file)`,
  ),
  phrase(
    '(?:liste|zähle|nenne|zeige?|gib|finde|suche|extrahiere|sammle) (?:mir |uns )?(?:alle?|jede[nrs]?|sämtliche)|alle (?:\\p{L}+ )?(?:auflisten|aufzählen|nennen)',
  ),
  phrase(
    '(?:liste[sz]?|énumère|énumérez|donne[sz]?|montre[sz]?|trouve[sz]?|extrais|extrayez|cite[sz]?)(?:-moi|-nous)? (?:tous|toutes|chaque|la liste complète)',
  ),
  phrase(
    '(?:lista|enumera|enumere|muestra|muéstrame|dame|encuentra|busca|extrae|nombra|cita) (?:todos|todas|cada|la lista completa)',
  ),
  // Comparisons of versions and texts.
  phrase(
    '(?:compare|diff) (?:the |these |both |all )*(?:\\p{L}+ )?(?:versions?|drafts?|revisions?|documents?|files?|texts?|contracts?|releases?)|differences? between (?:the )?(?:two |three |both )?(?:\\p{L}+ )?(?:versions?|drafts?|revisions?|documents?|files?|texts?|contracts?|releases?)',
  ),
  phrase(
    "what(?: has|['’]s| is|['’]ve)? (?:changed|different|new) (?:in v?\\d[\\w.]*|(?:between|from|since) (?:the )?(?:two |three |both )?(?:v\\.?\\d[\\w.]*|\\d[\\w.]*|versions?|drafts?|revisions?|releases?|last|old|first))|(?:between|from) v?\\d[\\w.]* (?:and|to) v?\\d[\\w.]*.{0,40}(?:change|differ)\\p{L}*",
  ),
  phrase(
    '(?:vergleiche?|vergleicht) (?:die |beide |diese )*(?:\\p{L}+ )?(?:Versionen|Fassungen|Entwürfe|Dokumente|Dateien|Texte|Verträge)|was hat sich (?:zwischen|von|seit|in)|Unterschiede? zwischen (?:den |beiden )*(?:\\p{L}+ )?(?:Versionen|Fassungen|Entwürfen|Dokumenten|Dateien|Texten|Verträgen)',
  ),
  phrase(
    "compare[sz]? (?:les |ces )(?:deux )?(?:versions|documents|fichiers|textes|contrats)|qu['’]est-ce qui a changé (?:entre|depuis|dans)|différences? entre (?:les )?(?:deux )?(?:versions|documents|fichiers|textes|contrats)",
  ),
  phrase(
    '(?:compara|compare) (?:las |los |estas |estos )(?:dos )?(?:versiones|documentos|archivos|textos|contratos)|qué (?:ha cambiado|cambió) (?:entre|desde|en)|diferencias? entre (?:las |los )?(?:dos )?(?:versiones|documentos|archivos|textos|contratos)',
  ),
] as const;

/** Matches what is quoted: words of the material, not of the request. */
const quoted = /“[^”]*”|„[^“]*“|«[^»]*»|「[^」]*」|"[^"\n]*"/g;

/** Returns whether a request can only be met with the whole text: sums, counts, complete lists, translations, comparisons. */
export function needsEverything(query: string): boolean {
  const asked = query.replaceAll(quoted, '');
  return everything.some((need) => need.test(asked));
}
