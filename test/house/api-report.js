/**
 * The public API as text: one report per subpath of package.json "exports", in test/house/api. Needs `npm run build`.
 *
 * `node test/house/api-report.js` fails when a declaration of the build differs from its report, when an exported name or
 * member has no docstring, when an exported signature mentions a type that its subpath neither exports nor imports from
 * another one, or when `hookswitch` exports more than 70 names.
 * `--update` writes the reports.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const REPORTS = join(ROOT, 'test/house/api')
const isUpdate = process.argv.includes('--update')
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const subpaths = Object.keys(exports).filter((subpath) => !subpath.endsWith('.json'))
const nameOf = (subpath) => (subpath === '.' ? 'index' : subpath.slice(2))
/** Names that somebody can learn. */
const MAX_NAMES = 70

const temporary = mkdtempSync(join(tmpdir(), 'hookswitch-api-'))
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
