/** Reads the files of `deploy/`. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const DEPLOY = join(ROOT, 'deploy')

export const read = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8')

/** A YAML file with one document. Duplicate keys and unresolved aliases throw. */
export const readYaml = (file: string): never => parse(read(file), { merge: true }) as never

/** A YAML file with several documents. */
export const readYamlDocuments = (file: string): readonly never[] =>
  parseAllDocuments(read(file)).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJS() as never
  })

/** One instruction of a Dockerfile: `COPY`, and what follows it, with continued lines joined. */
export interface Instruction {
  readonly name: string
  readonly value: string
}

/** The stages of a Dockerfile, each beginning with its `FROM`. */
export function readStages(file: string): readonly (readonly Instruction[])[] {
  const stages: Instruction[][] = []
  const lines = read(file)
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
  for (const line of lines) {
    const [, name, value] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    if (name === undefined || value === undefined) {
      if (line.trim() !== '') throw new Error(`${file}: not an instruction: ${line}`)
      continue
    }
    if (name === 'FROM') stages.push([])
    stages.at(-1)!.push({ name, value })
  }
  return stages
}

export const valuesOf = (stage: readonly Instruction[], wanted: string): readonly string[] =>
  stage.filter(({ name }) => name === wanted).map(({ value }) => value)

/** What a stage copies from the checkout, file by file or folder by folder. */
export function copiedFiles(stage: readonly Instruction[]) {
  return valuesOf(stage, 'COPY').flatMap((value) => {
    const words = value.split(' ').filter((word) => !word.startsWith('--'))
    const target = words.pop()!
    return words.map((source) => ({ source, target: target === './' ? source : target }))
  })
}

/** Whether this machine has a program; if it has not, that is said loudly, because a test then does not run. */
export function hasProgram(name: string): boolean {
  if (spawnSync('sh', ['-c', `command -v ${name}`]).status === 0) return true
  console.warn(`*** ${name} is not installed: what deploy/ needs it for was NOT tested ***`)
  return false
}

/** Runs a program; resolves to its output. Throws with the output if it fails. */
export function run(file: string, argv: readonly string[], cwd = DEPLOY): string {
  try {
    return execFileSync(file, argv, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (thrown) {
    const { stdout, stderr } = thrown as { stdout?: string; stderr?: string }
    throw new Error(`${file} ${argv.join(' ')}\n${stdout ?? ''}${stderr ?? ''}`, { cause: thrown })
  }
}
