/**
 * Finds the headers of an event that somebody reads, in one pass over each of its two parts: its own headers, and the
 * channel variables behind them.
 *
 * An event has some 200 headers in 7 KB, of which the mapping reads twenty. One regular expression of all their names takes
 * as long as two searches for a single name that is absent. The names are not listed anywhere: a name is searched for by
 * itself when it is first read, and belongs to the expression from the next event on, also the names that a host's
 * `accountOf` reads.
 */

/** How a format encloses the names of headers. */
export interface HeaderSyntax {
  /** Regular expression of what precedes a name. Its last character occurs in no name. */
  readonly before: string
  /** Length of what precedes a name, characters. */
  readonly beforeLength: number
  /** What follows a name. */
  readonly after: string
}

/** The headers found in one event. */
export interface FoundHeaders {
  /**
   * Returns the offset of the value of a header; -1: the event does not have it; `undefined`: the event was not searched
   * for this name.
   */
  valueOf(name: string): number | undefined
  /** Returns the offsets behind this prefix of all names that have it; `undefined`: the event was not searched for it. */
  behindPrefix(prefix: string): readonly number[] | undefined
}

/** Finds headers in the events of one format. */
export interface HeaderFinder {
  /** Searches an event for all names that were read from earlier events. */
  find(text: string): FoundHeaders
  /** What is searched for to find the value of a header. */
  keyOf(name: string): string
}

/** More names are searched for one by one: a host's code may generate an unlimited number of them. */
const MAX_NAMES = 200
/** Headers that are read before this many others are searched for one by one: most events have few to read. */
const FIRST_HEADERS = 6
const VARIABLE = 'variable_'

/** Creates a finder for a format. */
export function createHeaderFinder(syntax: HeaderSyntax): HeaderFinder {
  const headers = createSearch(syntax)
  const variables = createSearch(syntax)
  /** Names that are not in front of the variables. */
  const others = createSearch(syntax)
  const firstVariable = new RegExp(syntax.before + VARIABLE, 'g')
  const keys = new Map<string, string>()

  const keyOf = (name: string): string => {
    const cached = keys.get(name)
    if (cached !== undefined) return cached
    const key = name + syntax.after
    if (keys.size < MAX_NAMES) keys.set(name, key)
    return key
  }

  /** Where the channel variables begin. */
  const findVariables = (text: string): number => {
    firstVariable.lastIndex = 0
    // What precedes a name belongs to the second part.
    return firstVariable.test(text)
      ? firstVariable.lastIndex - VARIABLE.length - syntax.beforeLength
      : text.length
  }

  class Found implements FoundHeaders {
    private reads = 0
    private variablesAt = -1
    private headers: Matches | undefined
    private variables: Matches | undefined
    private others: Matches | undefined

    constructor(private readonly text: string) {}

    valueOf(name: string): number | undefined {
      const { text } = this
      const key = keyOf(name)
      if (name.startsWith(VARIABLE)) {
        this.variables ??= variables.run(text)
        return this.variables.valueOf(name, key)
      }
      this.reads += 1
      if (this.reads <= FIRST_HEADERS) return undefined
      if (this.variablesAt < 0) this.variablesAt = findVariables(text)
      this.headers ??= headers.run(text.slice(0, this.variablesAt))
      const at = this.headers.valueOf(name, key)
      if (at !== -1) return at
      // A few events have further headers behind the variables.
      this.others ??= others.run(text.slice(this.variablesAt))
      const behind = this.others.valueOf(name, key)
      return behind === undefined || behind === -1 ? behind : this.variablesAt + behind
    }

    behindPrefix(prefix: string): readonly number[] | undefined {
      if (!prefix.startsWith(VARIABLE)) return undefined
      this.variables ??= variables.run(this.text)
      return this.variables.behindPrefix(prefix)
    }
  }

  return { keyOf, find: (text) => new Found(text) }
}

/** Where the names of a search stand in one text. */
interface Matches {
  valueOf(name: string, key: string): number | undefined
  behindPrefix(prefix: string): readonly number[] | undefined
}

/** A search for names that grows with every name that is read. */
function createSearch({ before, after }: HeaderSyntax): { run(text: string): Matches } {
  const lastBefore = before.charCodeAt(before.length - 1)
  const names = new Set<string>()
  const prefixes = new Set<string>()
  /** How much of a name, and of what follows it, the expression matches: characters; the same for prefixes. */
  let nameLengths: ReadonlyMap<string, number> = new Map()
  let prefixLengths: ReadonlyMap<string, number> = new Map()
  let expression = /(?!)/g
  let hasNewNames = false

  const learn = (name: string, learned: Set<string>) => {
    if (learned.has(name) || names.size + prefixes.size >= MAX_NAMES) return
    learned.add(name)
    hasNewNames = true
  }

  /** The expression matches names up to the shortest prefix that they begin with, other names whole. */
  const rebuild = () => {
    const shortest = [...prefixes].filter(
      (prefix) => ![...prefixes].some((other) => other !== prefix && prefix.startsWith(other)),
    )
    const prefixOf = (name: string) => shortest.find((prefix) => name.startsWith(prefix))
    const whole = [...names].filter((name) => prefixOf(name) === undefined).map((name) => name + after)
    const alternatives = [...shortest, ...whole].map(escapePattern)
    expression = new RegExp(`${before}(?:${alternatives.join('|')})`, 'g')
    nameLengths = new Map([...names].map((name) => [name, (prefixOf(name) ?? name + after).length]))
    prefixLengths = new Map([...prefixes].map((prefix) => [prefix, prefixOf(prefix)?.length ?? 0]))
    hasNewNames = false
  }

  class Search implements Matches {
    /** Names are read roughly in the order in which they stand, so the search continues behind the last one. */
    private next = 0
    private readonly ends: number[] = []
    private readonly nameLengths = nameLengths
    private readonly prefixLengths = prefixLengths

    constructor(private readonly text: string) {
      expression.lastIndex = 0
      // `test` creates no array for a match, as `exec` does.
      while (expression.test(text)) this.ends.push(expression.lastIndex)
    }

    valueOf(name: string, key: string): number | undefined {
      const length = this.nameLengths.get(name)
      if (length === undefined) {
        learn(name, names)
        return undefined
      }
      const { ends } = this
      for (let steps = ends.length; steps > 0; steps -= 1) {
        if (this.next >= ends.length) this.next = 0
        const at = (ends[this.next] as number) - length
        this.next += 1
        if (this.isAt(key, at)) return at + key.length
      }
      return -1
    }

    behindPrefix(prefix: string): readonly number[] | undefined {
      const length = this.prefixLengths.get(prefix)
      if (length === undefined) {
        learn(prefix, prefixes)
        return undefined
      }
      const offsets: number[] = []
      for (const end of this.ends)
        if (this.isAt(prefix, end - length)) offsets.push(end - length + prefix.length)
      return offsets
    }

    /** Whether this stands at an offset, and is not only the end of a longer name. */
    private isAt(key: string, at: number): boolean {
      return this.text.startsWith(key, at) && this.text.charCodeAt(at - 1) === lastBefore
    }
  }

  return {
    run(text) {
      if (hasNewNames) rebuild()
      return new Search(text)
    },
  }
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
