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

/** A name or prefix in the expression of a search. */
interface Term {
  /** What the expression matches for it: `before`, and the name with `after` or the prefix. */
  readonly pattern: string
  readonly isPrefix: boolean
}

/** Where a name is found: the match of `term`, and what must follow it. */
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
    const terms: Term[] = shortest.map((prefix) => ({ pattern: before + prefix, isPrefix: true }))
    const namePlaces = new Map<string, Place>()
    const prefixPlaces = new Map<string, Place>()
    for (const prefix of prefixes) {
      const term = shortest.findIndex((one) => prefix.startsWith(one))
      prefixPlaces.set(prefix, { term, rest: prefix.slice(shortest[term]?.length) })
    }
    for (const name of this.names) {
      const prefixTerm = shortest.findIndex((one) => name.startsWith(one))
      const rest = prefixTerm < 0 ? '' : name.slice(shortest[prefixTerm]?.length) + after
      const term =
        prefixTerm < 0 ? terms.push({ pattern: before + name + after, isPrefix: false }) - 1 : prefixTerm
      namePlaces.set(name, { term, rest })
    }
    const stopTerm = stop === undefined ? -1 : terms.push({ pattern: before + stop, isPrefix: false }) - 1
    const alternatives = terms.map(({ pattern }) => escapePattern(pattern.slice(before.length)))
    const expression = new RegExp(`${before}(?:${alternatives.join('|') || '(?!)'})`, 'g')
    this.hasNewNames = false
    return { expression, terms, stopTerm, namePlaces, prefixPlaces, followers: terms.map(() => 0) }
  }
}

/** The expression of a search, and what its matches stand for. */
interface CompiledSearch {
  readonly expression: RegExp
  readonly terms: readonly Term[]
  /** The term in front of which the search ends; -1: none. */
  readonly stopTerm: number
  readonly namePlaces: ReadonlyMap<string, Place>
  readonly prefixPlaces: ReadonlyMap<string, Place>
  /** Per term, the term that followed it last: headers stand in the same order in most events. */
  readonly followers: number[]
}

const NO_OFFSETS: readonly number[] = Object.freeze([])

/** One pass over a text, as far as it is needed. */
class Scan {
  /** Everything in front of this offset has been searched. */
  position: number
  /** Whether the search ended in front of a name with the prefix `stop`. */
  hasStopped = false
  private isAtEnd = false
  private lastTerm = 0
  /** Where the first match of each term ends; `undefined`: not found yet. */
  private readonly offsets: (number | undefined)[] = []
  /** Where all matches of each prefix end. */
  private readonly prefixOffsets: (number[] | undefined)[] = []

  constructor(
    private readonly text: string,
    private readonly from: number,
    private readonly search: HeaderSearch,
    private readonly compiled: CompiledSearch,
  ) {
    this.position = from
  }

  valueOf(name: string): number {
    const place = this.compiled.namePlaces.get(name)
    if (place === undefined) return this.search.findName(this.text, name, this.from)
    const { term, rest } = place
    if (rest !== '') return this.findBehindPrefix(term, rest)
    while (this.offsets[term] === undefined && !this.isAtEnd) this.advance()
    return this.offsets[term] ?? -1
  }

  behindPrefix(prefix: string): readonly number[] {
    const place = this.compiled.prefixPlaces.get(prefix)
    if (place === undefined) return this.search.findPrefix(this.text, prefix, this.from)
    while (!this.isAtEnd) this.advance()
    const offsets = this.prefixOffsets[place.term] ?? NO_OFFSETS
    const { rest } = place
    if (rest === '') return offsets
    return offsets.filter((at) => this.text.startsWith(rest, at)).map((at) => at + rest.length)
  }

  private findBehindPrefix(term: number, rest: string): number {
    for (let index = 0; ; ) {
      const at = this.prefixOffsets[term]?.[index]
      if (at === undefined) {
        if (this.isAtEnd) return -1
        this.advance()
      } else if (this.text.startsWith(rest, at)) return at + rest.length
      else index += 1
    }
  }

  /** Continues to the next match. */
  private advance(): void {
    const { expression, terms, stopTerm } = this.compiled
    expression.lastIndex = this.position
    // `test` creates no array for a match, as `exec` does.
    if (!expression.test(this.text)) {
      this.isAtEnd = true
      this.position = this.text.length
      return
    }
    const end = expression.lastIndex
    const term = this.termThatEndsAt(end)
    this.lastTerm = term
    if (term === stopTerm) {
      this.isAtEnd = true
      this.hasStopped = true
      this.position = end - (terms[term] as Term).pattern.length
      return
    }
    this.position = end
    if ((terms[term] as Term).isPrefix) this.addPrefixOffset(term, end)
    else this.offsets[term] ??= end
  }

  private addPrefixOffset(term: number, end: number): void {
    const offsets = this.prefixOffsets[term]
    if (offsets) offsets.push(end)
    else this.prefixOffsets[term] = [end]
  }

  private termThatEndsAt(end: number): number {
    const { terms, followers } = this.compiled
    const expected = followers[this.lastTerm] as number
    if (this.endsAt(terms[expected] as Term, end)) return expected
    const term = terms.findIndex((one) => this.endsAt(one, end))
    followers[this.lastTerm] = term
    return term
  }

  private endsAt({ pattern }: Term, end: number): boolean {
    return this.text.startsWith(pattern, end - pattern.length)
  }
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
