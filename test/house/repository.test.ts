/** The files around the sources that GitHub, editors and tools read. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT, read } from './sources.js'

interface Step {
  readonly uses?: string
  readonly run?: string
}
interface Job {
  readonly 'timeout-minutes'?: number
  readonly permissions?: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}
interface Update {
  readonly 'package-ecosystem': string
  readonly directory?: string
  readonly directories?: readonly string[]
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const FOLDER = '.github/workflows'
const workflows = readdirSync(join(ROOT, FOLDER)).map((name) => ({
  name,
  workflow: parse(read(`${FOLDER}/${name}`)) as Workflow,
}))
const jobs = workflows.flatMap(({ name, workflow }) =>
  Object.entries(workflow.jobs).map(([id, job]) => ({ name: `${name}: ${id}`, job })),
)
const { engines, scripts, version } = JSON.parse(read('package.json'))

describe('the workflows', () => {
  it('may read the sources and nothing else, unless a job says so, and end after a time', () => {
    for (const { name, workflow } of workflows)
      expect([name, workflow.permissions]).toEqual([name, { contents: 'read' }])
    expect(jobs.filter(({ job }) => !job['timeout-minutes'])).toEqual([])
  })

  it('run no code of a dependency where a version or the site can be published', () => {
    const mayWrite = jobs.filter(({ job }) => Object.values(job.permissions ?? {}).includes('write'))
    expect(mayWrite.map(({ name }) => name).sort()).toEqual(['docs.yml: publish', 'release.yml: publish'])
    for (const { name, job } of mayWrite) {
      const commands = job.steps.map(({ run = '' }) => run).join('\n')
      expect([name, /npm (ci|install|run|test)|npx|\.ci\/run/.test(commands)]).toEqual([name, false])
    }
  })

  it('use actions of a named version, and commands that exist', () => {
    const steps = jobs.flatMap(({ job }) => job.steps)
    const unpinned = steps.filter(({ uses }) => uses !== undefined && !/^actions\/[a-z-]+@v\d+$/.test(uses))
    expect(unpinned).toEqual([])
    const commands = steps.map(({ run = '' }) => run).join('\n')
    expect([...commands.matchAll(/npm run (\S+)/g)].filter(([, script]) => !(script! in scripts))).toEqual([])
    expect(commands).toContain('.ci/run')
  })
})

describe('the files for editors and tools', () => {
  it('name a version of Node that the package supports', () => {
    const [major = 0] = read('.nvmrc').split('.').map(Number)
    expect(major).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)![0]))
  })

  it('format as Biome does', () => {
    const { indentWidth, indentStyle, lineWidth } = JSON.parse(read('biome.json')).formatter
    const settings = read('.editorconfig')
    expect(settings).toContain(`indent_style = ${indentStyle}\nindent_size = ${indentWidth}\n`)
    expect(settings).toContain(`[*.{ts,tsx,js}]\nmax_line_length = ${lineWidth}\n`)
  })

  it('keep the dependencies of folders that exist up to date', () => {
    const { updates } = parse(read('.github/dependabot.yml')) as {
      readonly updates: readonly Update[]
    }
    const files: Readonly<Record<string, string>> = {
      npm: 'package.json',
      'github-actions': '.github/workflows',
      docker: 'Dockerfile',
    }
    for (const { 'package-ecosystem': ecosystem, directory, directories = [directory!] } of updates) {
      for (const folder of directories)
        expect([folder, existsSync(join(ROOT, folder, files[ecosystem]!))]).toEqual([folder, true])
    }
    const found = updates.flatMap(({ directories = [] }) => directories)
    const projects = readdirSync(join(ROOT, 'examples/projects'), { withFileTypes: true })
    expect([...found].sort()).toEqual(
      projects.flatMap((entry) => (entry.isDirectory() ? [`/examples/projects/${entry.name}`] : [])).sort(),
    )
  })
})

it('SECURITY.md names the line of versions that gets fixes', () => {
  const [major] = version.split('.')
  expect(read('SECURITY.md')).toContain(`newest minor version of ${major}.x`)
})
