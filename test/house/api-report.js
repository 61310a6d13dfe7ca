/**
 * The public API as text: one report per subpath of package.json "exports", in test/house/api. Needs `npm run build`.
 *
 * `node test/house/api-report.js` fails when a declaration of the build differs from its report, when an exported name or
 * member has no docstring, when an exported signature mentions a type that its subpath neither exports nor imports from
 * another one, or when `hookswitch` exports more than 70 names.
 * It fails too when a program in TypeScript cannot use the declarations: as ES module and as CommonJS, with every way in which
 * TypeScript resolves modules; and when the package is too large. `--update` writes the reports.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const REPORTS = join(ROOT, 'test/house/api')
const isUpdate = process.argv.includes('--update')
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const subpaths = Object.keys(exports).filter((subpath) => !subpath.endsWith('.json'))
const nameOf = (subpath) => (subpath === '.' ? 'index' : subpath.slice(2))
/** Names that somebody can learn. */
const MAX_NAMES = 70
/** Size of the package as a tarball, bytes. */
const MAX_BYTES = 1_600_000

const temporary = mkdtempSync(join(tmpdir(), 'hookswitch-api-'))
/** The package as an installed one: what a declaration imports from another subpath belongs to that one's report. */
const installed = join(temporary, 'node_modules/hookswitch')
mkdirSync(join(temporary, 'node_modules'))
symlinkSync(ROOT, installed)
const paths = Object.fromEntries(
  subpaths.map((subpath) => [
    `hookswitch${subpath.slice(1)}`,
    [join(installed, `dist/${nameOf(subpath)}.d.ts`)],
  ]),
)
/** One line per problem. */
const problems = []
/** The report of each subpath by name. */
const reports = new Map()
try {
  for (const subpath of subpaths) {
    const name = nameOf(subpath)
    const config = ExtractorConfig.prepare({
      configObjectFullPath: undefined,
      packageJsonFullPath: join(ROOT, 'package.json'),
      configObject: {
        projectFolder: ROOT,
        mainEntryPointFilePath: join(ROOT, `dist/${name}.d.ts`),
        compiler: {
          overrideTsconfig: {
            compilerOptions: {
              target: 'ES2022',
              // DOM: API Extractor cannot follow AbortSignal through @types/node alone.
              lib: ['ES2023', 'ESNext.String', 'DOM'],
              module: 'ESNext',
              moduleResolution: 'Bundler',
              types: ['node'],
              skipLibCheck: true,
              strict: true,
              paths,
              preserveSymlinks: true,
            },
            include: [`dist/${name}.d.ts`],
          },
        },
        apiReport: {
          enabled: true,
          reportFileName: `${name}.api.md`,
          reportFolder: REPORTS,
          reportTempFolder: temporary,
        },
        docModel: { enabled: false },
        dtsRollup: { enabled: false },
        tsdocMetadata: { enabled: false },
        messages: {
          compilerMessageReporting: { default: { logLevel: 'warning' } },
          extractorMessageReporting: {
            default: { logLevel: 'none' },
            'ae-forgotten-export': { logLevel: 'warning', addToApiReportFile: true },
          },
          tsdocMessageReporting: { default: { logLevel: 'none' } },
        },
      },
    })
    const { apiReportChanged } = Extractor.invoke(config, {
      localBuild: isUpdate,
      messageCallback(message) {
        message.handled = true
        if (message.logLevel === 'error') problems.push(`${name}: ${message.text}`)
      },
    })
    if (apiReportChanged && !isUpdate) {
      problems.push(
        `${name}: the public API differs from test/house/api/${name}.api.md (npm run api writes it)`,
      )
    }
    reports.set(name, readFileSync(join(temporary, `${name}.api.md`), 'utf8'))
  }
  for (const [name, report] of reports) problems.push(...problemsOf(name, report))
  const count = exportsOf(reports.get('index')).length
  if (count > MAX_NAMES) problems.push(`hookswitch exports ${count} names, at most ${MAX_NAMES} are allowed`)
  problems.push(...consumerProblems(), ...packageProblems())
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exitCode = 1
}
console.log(`${subpaths.length} subpaths, ${problems.length} problems`)

/** The names that a report exports. */
function exportsOf(report) {
  return [...report.matchAll(/^export .*?(?:interface|class|type|function|const|enum) (\w+)/gm)].map(
    (match) => match[1],
  )
}

/** The unexported types that signatures mention, and the names and members without a docstring. */
function problemsOf(name, report) {
  const found = []
  const lines = report.split('\n')
  let owner = ''
  lines.forEach((line, index) => {
    owner = exportsOf(line)[0] ?? owner
    const forgotten = /ae-forgotten-export\) The symbol "(\w+?)(?:[_$]\d+)?"/.exec(line)?.[1]
    if (forgotten) found.push(`${name}: a signature mentions ${forgotten}, which is not exported`)
    if (line.includes('(undocumented)')) {
      const member = lines[index + 1].trim()
      const prefix = lines[index + 1].startsWith('    ') ? `${owner}: ` : ''
      found.push(`${name}: ${prefix}${member} has no docstring`)
    }
  })
  return found
}

/** The errors of programs that use every subpath, in each module format and with each resolution of modules. */
function consumerProblems() {
  const { ModuleKind, ModuleResolutionKind } = ts
  const ways = [
    ['consumer.cts', ModuleKind.CommonJS, ModuleResolutionKind.Node10],
    ['consumer.cts', ModuleKind.Node16, ModuleResolutionKind.Node16],
    ['consumer.mts', ModuleKind.Node16, ModuleResolutionKind.Node16],
    ['consumer.mts', ModuleKind.ESNext, ModuleResolutionKind.Bundler],
  ]
  const text = [
    ...subpaths.map((subpath, index) => `import * as module${index} from 'hookswitch${subpath.slice(1)}'`),
    "import { createHookswitch, HookswitchError, memoryStore, type Hookswitch, type Log } from 'hookswitch'",
    "import { sqliteStore } from 'hookswitch/sqlite'",
    "import type { Store } from 'hookswitch/store'",
    `export const modules = [${subpaths.map((_, index) => `module${index}`)}]`,
    "export const stores: readonly Store[] = [memoryStore(), sqliteStore({ path: 'x.db' })]",
    "export const hs: Hookswitch<{ readonly id: 'x' }> = createHookswitch({ store: memoryStore(), hooks: [{ id: 'x' }] })",
    'export const isAny: 0 extends 1 & typeof hs ? true : false = false',
    'export const pending: Promise<number> = hs.operator.overview().then((overview) => overview.pending)',
    "export const error: HookswitchError = new HookswitchError('Closing', 'x')",
    'export const log = (given: Log) => given',
  ].join('\n')
  return ways.flatMap(([file, module, moduleResolution]) => {
    const path = join(temporary, file)
    writeFileSync(path, text)
    const program = ts.createProgram([path], {
      module,
      moduleResolution,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2023.d.ts'],
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      // Finds the package as an installed one.
      preserveSymlinks: true,
      skipLibCheck: true,
      strict: true,
      noEmit: true,
    })
    const name = `${file}, ${ModuleResolutionKind[moduleResolution]}`
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
  })
}

/** What is wrong with the tarball that `npm pack` makes. */
function packageProblems() {
  const output = execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const [{ size, files }] = JSON.parse(output)
  console.log(`the tarball has ${size} bytes`)
  return [
    ...(size > MAX_BYTES ? [`the tarball has ${size} bytes, at most ${MAX_BYTES} are allowed`] : []),
    ...files
      .filter(({ path }) => /\.(map|png|jpg)$|^(docs|src|test)\//.test(path))
      .map(({ path }) => `the tarball has ${path}`),
  ]
}
