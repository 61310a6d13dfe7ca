/**
 * No regular expression of the package takes more than linear time. `recheck` decides it for one match; what loops over the
 * matches of a pattern is timed in `test/linear`.
 */
import { check } from 'recheck'
import ts from 'typescript'
import { expect, it, vi } from 'vitest'
import { read, sourceFiles } from './sources.js'

interface Pattern {
  readonly source: string
  readonly flags: string
  readonly place: string
}

/** Files that read only texts of this repository. */
const READ_NO_FOREIGN_TEXT = ['adapters/portal/app/vite.config.ts']

/** Files that build patterns when they are loaded. */
const BUILT_WHEN_LOADED = [
  'src/accounts/account-input.ts',
  'src/values/http-date.ts',
  'src/values/secret-names.ts',
]

/** Files that build patterns later, or some that the automaton cannot express, and of what. */
const BUILT_LATER: Readonly<Record<string, string>> = {
  'src/webhooks/json-schema-check.ts':
    'of the schema of the host, who answers for it (docs/embed/custom-events.md)',
  'src/values/printable.ts':
    'of constants: a picture ends where the next one begins, and look-around sees one character (test/linear)',
  'adapters/cli/setting-schema.ts': 'of config.schema.json, which is checked here',
  'adapters/cli/accounts-file.ts': 'of a number, without repetition',
}

const FILES = [...sourceFiles('src', 'adapters'), 'src/values/validators.generated.js'].filter(
  (path) => !READ_NO_FOREIGN_TEXT.includes(path),
)

const SOURCES = FILES.map((path) => ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true))

/** Calls `visit` for every node of a file. */
function visitNodes(file: ts.SourceFile, visit: (node: ts.Node, place: string) => void): void {
  const descend = (node: ts.Node): void => {
    visit(node, `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`)
    ts.forEachChild(node, descend)
  }
  descend(file)
}

/** The argument of `RegExp(…)`; `undefined` for any other node. */
function builtPattern(node: ts.Node): ts.NodeArray<ts.Expression> | undefined {
  const isCall = ts.isNewExpression(node) || ts.isCallExpression(node)
  return isCall && ts.isIdentifier(node.expression) && node.expression.text === 'RegExp'
    ? node.arguments
    : undefined
}

function patternsIn(file: ts.SourceFile): Pattern[] {
  const patterns: Pattern[] = []
  visitNodes(file, (node, place) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      patterns.push({ source: node.text.slice(1, end), flags: node.text.slice(end + 1), place })
    }
    const [source, flags] = builtPattern(node) ?? []
    if (source && ts.isStringLiteralLike(source)) {
      const given = flags && ts.isStringLiteralLike(flags) ? flags.text : ''
      patterns.push({ source: source.text, flags: given, place })
    }
  })
  return patterns
}

/** Patterns in a JSON Schema, as the validators compile them. */
function patternsOfSchema(schema: unknown, place: string): Pattern[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]) =>
    key === 'pattern' && typeof value === 'string'
      ? [{ source: value, flags: 'u', place }]
      : patternsOfSchema(value, `${place}.${key}`),
  )
}

/** Decides by an automaton alone: the search by trial depends on how busy the machine is. */
const AUTOMATON = {
  checker: 'automaton',
  timeout: null,
  maxNFASize: 200_000,
  maxPatternSize: 5_000,
  maxRepeatCount: 5_000,
} as const

/** Patterns that the automaton cannot express, and why they are linear. */
const LOOK_AROUND: Readonly<Record<string, string>> = {
  '/^[ \\t]+|(?<![ \\t])[ \\t]+$/g': 'a run of spaces is tried from its first one alone',
  '/(?<!\\/)\\/+$/': 'a run of slashes is tried from its first one alone',
  '/^\\d+(?=\\.|$)/': 'begins at one place, and each shorter run of digits is followed by a digit',
  '/^\\w+(?=: )/': 'begins at one place, and each shorter run of letters is followed by a letter',
}

/** One class of characters that is all of the text has no choice to make. */
const ONE_CLASS = /^\^\[(?:[^\]\\]|\\.)*\](?:[*+]|\{\d+(?:,\d*)?\})?\$$/

/** What is wrong with the patterns: one line each. Equal patterns are checked once. */
async function problemsOf(patterns: readonly Pattern[]): Promise<string[]> {
  const places = new Map<string, Pattern[]>()
  for (const pattern of patterns) {
    const key = `/${pattern.source}/${pattern.flags}`
    places.set(key, [...(places.get(key) ?? []), pattern])
  }
  const problems: string[] = []
  // One after another: `check` starts a native program where there is one, and calls at once would start one each.
  for (const [key, same] of places) {
    const { source, flags } = same[0]!
    if (key in LOOK_AROUND || (ONE_CLASS.test(source) && !flags.includes('m'))) continue
    const result = await check(source, flags, AUTOMATON)
    if (result.status === 'safe') continue
    const why =
      result.status === 'vulnerable' ? `${result.complexity.summary}: ${result.attack.pattern}` : 'unknown'
    problems.push(`${same.map(({ place }) => place).join(', ')} ${key} ${why}`)
  }
  return problems
}

it('no regular expression in src and adapters takes more than linear time', async () => {
  const literals = SOURCES.flatMap(patternsIn)
  const schema = 'adapters/cli/config.schema.json'
  expect(literals.length).toBeGreaterThan(250)
  expect(await problemsOf([...literals, ...patternsOfSchema(JSON.parse(read(schema)), schema)])).toEqual([])
}, 300_000)

it('nor does one that is built when a file is loaded', async () => {
  const Original = RegExp
  const patterns: Pattern[] = []
  vi.stubGlobal(
    'RegExp',
    new Proxy(Original, {
      construct(target, [source, flags = '']: [string, string?]) {
        patterns.push({ source, flags, place: 'built' })
        return new target(source, flags)
      },
    }),
  )
  try {
    for (const path of BUILT_WHEN_LOADED) {
      const before = patterns.length
      await import(`../../${path}`)
      expect(patterns.length, path).toBeGreaterThan(before)
    }
  } finally {
    vi.unstubAllGlobals()
  }
  expect(await problemsOf(patterns)).toEqual([])
})

it('every file that builds a pattern is known here', () => {
  const builders = SOURCES.filter((file) => {
    let isBuilder = false
    visitNodes(file, (node) => {
      const [source] = builtPattern(node) ?? []
      if (source && !ts.isStringLiteralLike(source)) isBuilder = true
    })
    return isBuilder
  }).map(({ fileName }) => fileName)
  expect(builders.sort()).toEqual([...BUILT_WHEN_LOADED, ...Object.keys(BUILT_LATER)].sort())
})

it.each([[/^[ \t]+|[ \t]+$/g], [/"(?:[^"\\]|\\.)*"/gs], [/:\d*\W*$/], [/msg_(.+)\.\w+$/], [/\/+$/]])(
  'the check finds %s',
  async ({ source, flags }) => {
    expect(await problemsOf([{ source, flags, place: 'here' }])).toEqual([
      expect.stringContaining('polynomial'),
    ])
  },
)
