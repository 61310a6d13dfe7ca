/**
 * Finds the headers of an event that somebody reads. An event has some 200 headers in 7 KB, of which the mapping reads
 * ten.
 *
 * Theory of operation:
 * - The names that are read differ from event name to event name, but hardly between two events of one name. They are
 *   listed nowhere: a name is searched for by itself when it is first read, and from the next event of that name on it is
 *   part of one regular expression, also the names that a host's `accountOf` reads.
 * - The search continues only until the header that is read is found. It has two parts: the headers in front of the
 *   channel variables, and the variables. Each has its own expression: one whose alternatives all begin with `variable_`
 *   skips most of the text.
 * - Which events came before never changes a result: of several headers with the same name the first is found.
 */

/** How a format encloses the names of headers. Every header but the first of an event is found. */
export interface HeaderSyntax {
  /** What precedes a name, without characters that are special in a regular expression. Its last occurs in no name. */
  readonly before: string
  /** What follows a name. */
  readonly after: string
}

/** The headers of one event. */
export interface FoundHeaders {
  /** Returns the offset of the value of a header; -1: the event does not have it. */
  valueOf(name: string): number
  /** Returns the offsets behind this prefix of all names that have it, in order. */
  behindPrefix(prefix: string): readonly number[]
}

/** Finds headers in the events of one format. */
export interface HeaderFinder {
  /** @param eventName the events of one name are expected to be searched for the same headers */
  find(eventName: string, text: string): FoundHeaders
}

/** Further names are searched for one by one: a host's code may generate an unlimited number of them. */
const MAX_NAMES = 200
/** Events with further names are searched together. */
const MAX_EVENT_NAMES = 100
const VARIABLE = 'variable_'

/** Creates a finder for a format. */
export function createHeaderFinder(syntax: HeaderSyntax): HeaderFinder {
  const searches = new Map<string, EventSearches>()

  const searchesOf = (eventName: string): EventSearches => {
    const known = searches.get(eventName)
    if (known) return known
    if (searches.size >= MAX_EVENT_NAMES) return searchesOf([...searches.keys()][0] as string)
    const added = {
      headers: new HeaderSearch(syntax, VARIABLE),
      variables: new HeaderSearch(syntax),
      behindVariables: new HeaderSearch(syntax),
    }
    searches.set(eventName, added)
    return added
  }

  return { find: (eventName, text) => new EventHeaders(text, searchesOf(eventName)) }
}

/** What is searched for in the events of one name. */
interface EventSearches {
  /** In front of the variables. */
  readonly headers: HeaderSearch
  readonly variables: HeaderSearch
  /** Headers that are not in front of the variables: a few events have further ones behind them. */
  readonly behindVariables: HeaderSearch
}

class EventHeaders implements FoundHeaders {
  private readonly headers: Scan
  private variables: Scan | undefined
  private behindVariables: Scan | undefined

  constructor(
    private readonly text: string,
    private readonly searches: EventSearches,
  ) {
    this.headers = searches.headers.scan(text, 0)
  }

  valueOf(name: string): number {
    if (name.startsWith(VARIABLE)) return this.scanVariables().valueOf(name)
    const at = this.headers.valueOf(name)
    if (at >= 0 || !this.headers.hasStopped) return at
    this.behindVariables ??= this.searches.behindVariables.scan(this.text, this.headers.position)
    return this.behindVariables.valueOf(name)
  }

  behindPrefix(prefix: string): readonly number[] {
    if (prefix.startsWith(VARIABLE)) return this.scanVariables().behindPrefix(prefix)
    return this.searches.headers.offsetsBehind(this.text, prefix, 0)
  }

  private scanVariables(): Scan {
    // No variable stands where the headers have been searched.
    this.variables ??= this.searches.variables.scan(this.text, this.headers.position)
    return this.variables
  }
}

/** Where a name is found: the match of `term` (an index of the expression's patterns), and what must follow it. */
interface Place {
  readonly term: number
  readonly rest: string
}

/** A search for names that grows with every name that is read. */
class HeaderSearch {
  private readonly names = new Set<string>()
  private readonly prefixes = new Set<string>()
  private hasNewNames = true
  private compiled: CompiledSearch | undefined

  /** @param stop the search ends in front of the first name with this prefix */
  constructor(
    private readonly syntax: HeaderSyntax,
    private readonly stop?: string,
  ) {}

  scan(text: string, from: number): Scan {
    if (this.compiled === undefined || this.hasNewNames) this.compiled = this.compile()
    return new Scan(text, from, this, this.compiled)
  }

  /** Finds a name by itself, and from the next event on with the others. */
  findName(text: string, name: string, from: number): number {
    const { before, after } = this.syntax
    // No header has such a name.
    if (name.includes(before.slice(-1)) || name.includes(after)) return -1
    this.learn(name, this.names)
    const key = before + name + after
    const at = text.indexOf(key, from)
    return at < 0 ? -1 : at + key.length
  }

  /** Finds a prefix by itself, and from the next event on with the names. */
  findPrefix(text: string, prefix: string, from: number): number[] {
    this.learn(prefix, this.prefixes)
    return this.offsetsBehind(text, prefix, from)
  }

  offsetsBehind(text: string, prefix: string, from: number): number[] {
    const key = this.syntax.before + prefix
    const offsets: number[] = []
    for (let at = text.indexOf(key, from); at >= 0; at = text.indexOf(key, at + 1))
      offsets.push(at + key.length)
    return offsets
  }

  private learn(name: string, learned: Set<string>): void {
    if (learned.has(name) || this.names.size + this.prefixes.size >= MAX_NAMES) return
    learned.add(name)
    this.hasNewNames = true
  }

  /** The expression matches names up to the shortest prefix that they begin with, other names whole. */
  private compile(): CompiledSearch {
    const { before, after } = this.syntax
    const { prefixes, stop } = this
    const shortest = [...prefixes].filter(
      (prefix) => ![...prefixes].some((other) => other !== prefix && prefix.startsWith(other)),
    )
    const patterns = shortest.map((prefix) => before + prefix)
    const prefixCount = patterns.length
    const namePlaces = new Map<string, Place>()
    const prefixPlaces = new Map<string, Place>()
    for (const prefix of prefixes) {
      const term = shortest.findIndex((term) => prefix.startsWith(term))
      prefixPlaces.set(prefix, { term, rest: prefix.slice(shortest[term]?.length) })
    }
    for (const name of this.names) {
      const prefixTerm = shortest.findIndex((term) => name.startsWith(term))
      const rest = prefixTerm < 0 ? '' : name.slice(shortest[prefixTerm]?.length) + after
      const term = prefixTerm < 0 ? patterns.push(before + name + after) - 1 : prefixTerm
      namePlaces.set(name, { term, rest })
    }
    const stopTerm = stop === undefined ? -1 : patterns.push(before + stop) - 1
    const alternatives = patterns.map((pattern) => escapePattern(pattern.slice(before.length)))
    const expression = new RegExp(`${before}(?:${alternatives.join('|') || '(?!)'})`, 'g')
    this.hasNewNames = false
    return {
      expression,
      patterns,
      prefixCount,
      stopTerm,
      namePlaces,
      prefixPlaces,
      termBefore: createTermLookup(patterns),
      unknownOffsets: patterns.map(() => UNKNOWN),
    }
  }
}

/** The expression of a search, and what its matches stand for. */
interface CompiledSearch {
  readonly expression: RegExp
  /** What the expression matches, per term: `before` and a prefix, or `before`, a name and `after`. Prefixes come first. */
  readonly patterns: readonly string[]
  readonly prefixCount: number
  /** The term in front of which the search ends; -1: none. */
  readonly stopTerm: number
  readonly namePlaces: ReadonlyMap<string, Place>
  readonly prefixPlaces: ReadonlyMap<string, Place>
  /** Returns the term whose match ends at an offset. */
  readonly termBefore: TermLookup
  /** The offsets of a scan that has found nothing. */
  readonly unknownOffsets: readonly number[]
}

const NO_OFFSETS: readonly number[] = Object.freeze([])

/** An offset that is not known yet; -1 is what callers get for "not found". */
const UNKNOWN = -1

/** One pass over a text, as far as it is needed. */
class Scan {
  /** Everything in front of this offset has been searched. */
  position: number
  /** Whether the search ended in front of a name with the prefix `stop`. */
  hasStopped = false
  private isAtEnd = false
  /** Where the first match of each term ends. */
  private readonly offsets: number[]
  /** Where all matches of each prefix end. */
  private prefixOffsets: (number[] | undefined)[] | undefined

  constructor(
    private readonly text: string,
    private readonly from: number,
    private readonly search: HeaderSearch,
    private readonly compiled: CompiledSearch,
  ) {
    this.position = from
    // A copy takes less than an array that grows.
    this.offsets = compiled.unknownOffsets.slice()
  }

  valueOf(name: string): number {
    const place = this.compiled.namePlaces.get(name)
    if (place === undefined) return this.search.findName(this.text, name, this.from)
    const { term, rest } = place
    if (rest !== '') return this.findBehindPrefix(term, rest)
    let at = this.offsets[term] as number
    while (at === UNKNOWN && !this.isAtEnd) {
      this.advance()
      at = this.offsets[term] as number
    }
    return at
  }

  behindPrefix(prefix: string): readonly number[] {
    const place = this.compiled.prefixPlaces.get(prefix)
    if (place === undefined) return this.search.findPrefix(this.text, prefix, this.from)
    while (!this.isAtEnd) this.advance()
    const offsets = this.prefixOffsets?.[place.term] ?? NO_OFFSETS
    const { rest } = place
    if (rest === '') return offsets
    return offsets.filter((at) => this.text.startsWith(rest, at)).map((at) => at + rest.length)
  }

  private findBehindPrefix(term: number, rest: string): number {
    for (let index = 0; ; ) {
      const at = this.prefixOffsets?.[term]?.[index]
      if (at === undefined) {
        if (this.isAtEnd) return -1
        this.advance()
      } else if (this.text.startsWith(rest, at)) return at + rest.length
      else index += 1
    }
  }

  /** Continues to the next match. */
  private advance(): void {
    const { text, compiled } = this
    const { expression } = compiled
    expression.lastIndex = this.position
    // `test` creates no array for a match, as `exec` does.
    if (!expression.test(text)) {
      this.isAtEnd = true
      this.position = text.length
      return
    }
    const end = expression.lastIndex
    const term = compiled.termBefore(text, end)
    if (term === compiled.stopTerm) {
      this.isAtEnd = true
      this.hasStopped = true
      this.position = end - (compiled.patterns[term] as string).length
      return
    }
    this.position = end
    if (term < compiled.prefixCount) this.addPrefixOffset(term, end)
    else if (this.offsets[term] === UNKNOWN) this.offsets[term] = end
  }

  private addPrefixOffset(term: number, end: number): void {
    this.prefixOffsets ??= []
    const offsets = this.prefixOffsets[term]
    if (offsets) offsets.push(end)
    else this.prefixOffsets[term] = [end]
  }
}

/** Returns the index of the pattern that ends at this offset; the caller knows that one of them does. */
type TermLookup = (text: string, end: number) => number

/** Up to so many characters in front of the end of a match, the patterns are searched for a difference. */
const MAX_DISTANCE = 24
const TABLE_SIZE = 256

/**
 * Tells the patterns apart by three of their last characters, if that is possible: comparing the patterns with the text
 * one after the other takes longer than the search. No pattern ends with another one.
 */
function createTermLookup(patterns: readonly string[]): TermLookup {
  const reach = Math.min(MAX_DISTANCE, ...patterns.map(({ length }) => length))
  for (let a = 1; a <= reach; a += 1)
    for (let b = a; b <= reach; b += 1)
      for (let c = b; c <= reach; c += 1) {
        const table = tableOf(patterns, a, b, c)
        if (table) return (text, end) => table[hashBefore(text, end, a, b, c)] as number
      }
  return (text, end) => patterns.findIndex((pattern) => text.startsWith(pattern, end - pattern.length))
}

/** The patterns by the hash of three characters; `undefined`: two of them have the same. */
function tableOf(patterns: readonly string[], a: number, b: number, c: number): Int16Array | undefined {
  const table = new Int16Array(TABLE_SIZE).fill(-1)
  for (const [term, pattern] of patterns.entries()) {
    const hash = hashBefore(pattern, pattern.length, a, b, c)
    if (table[hash] !== -1) return undefined
    table[hash] = term
  }
  return table
}

function hashBefore(text: string, end: number, a: number, b: number, c: number): number {
  const hash = text.charCodeAt(end - a) + 7 * text.charCodeAt(end - b) + 59 * text.charCodeAt(end - c)
  return hash & (TABLE_SIZE - 1)
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
