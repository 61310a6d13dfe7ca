// @ts-check
/**
 * Compiles the programs of the documents against the packed package, strictly, with each kind of module resolution:
 *
 * - JavaScript blocks of the pages as TypeScript, because that is how a reader of TypeScript pastes them; those that have types
 *   in their comments as JavaScript;
 * - programs of `examples`, from which other blocks are quoted, as JavaScript with the types in their comments.
 *
 * TypeScript blocks are quoted from examples/projects (docs.test.ts checks it), and compiled with those. So no block is
 * left out.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { blocks, isQuoted, PAGES, ROOT, read } from '../examples/pages.js'

/** What a reader's tsconfig.json may say. */
const MODES = {
  NodeNext: { module: 'NodeNext', moduleResolution: 'NodeNext' },
  Node16: { module: 'Node16', moduleResolution: 'Node16' },
  Bundler: { module: 'ESNext', moduleResolution: 'Bundler' },
  node10: { module: 'CommonJS', moduleResolution: 'node10', esModuleInterop: true },
}
/** CommonJS has no `await` outside functions and no `import.meta`, so there a reader writes these otherwise. */
const NOT_IN_COMMONJS = /\berror TS(1309|1343|1378|1432): /
/** What a page leaves to its reader, by the name that stands for it. */
const DECLARATIONS = {
  customerOfCookie:
    'declare function customerOfCookie(cookie: unknown): Promise<{ accountId: string } | undefined>; ' +
    "declare const hs: import('hookswitch').Hookswitch",
}
/** As a reader's own program, which has no `tsconfig.json` of this repository. */
const OPTIONS = {
  target: 'ES2023',
  lib: ['ES2023'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
  skipLibCheck: true,
}

/**
 * Returns how many programs were compiled; rejects with the compiler's messages, whose lines are those of the pages.
 *
 * @param {object} installed
 * @param {string} installed.folder of the installed projects
 * @param {string} installed.tarball
 * @param {readonly string[]} installed.names of the projects
 */
export async function compileDocuments({ folder, tarball, names }) {
  const documents = join(folder, 'documents')
  await mkdir(documents)
  await installBeside(documents, folder, tarball, names)
  const programs = PAGES.flatMap(programsOf)
  for (const { file, text } of programs) {
    await mkdir(dirname(join(documents, file)), { recursive: true })
    await writeFile(join(documents, file), text)
  }
  await cp(join(ROOT, 'examples'), join(documents, 'examples'), {
    recursive: true,
    filter: (source) => source !== join(ROOT, 'examples', 'projects'),
  })
  const problems = []
  for (const [mode, options] of Object.entries(MODES)) {
    await writeFile(
      join(documents, 'package.json'),
      JSON.stringify({ type: mode === 'node10' ? 'commonjs' : 'module' }),
    )
    const config = { compilerOptions: { ...OPTIONS, ...options }, include: ['pages', 'examples'] }
    await writeFile(join(documents, 'tsconfig.json'), JSON.stringify(config))
    const lines = await compile(documents)
    problems.push(
      ...lines
        .filter((line) => mode !== 'node10' || !NOT_IN_COMMONJS.test(line))
        .map((line) => `${mode}: ${line}`),
    )
  }
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const examples = await readdir(join(documents, 'examples'), { recursive: true })
  const count = programs.length + examples.filter((name) => name.endsWith('.js')).length
  return `${count} programs compiled with ${Object.keys(MODES).join(', ')}`
}

/**
 * The package, beside the packages that this repository and the projects have.
 *
 * @param {string} documents
 * @param {string} folder
 * @param {string} tarball
 * @param {readonly string[]} names
 */
async function installBeside(documents, folder, tarball, names) {
  const target = join(documents, 'node_modules')
  const own = join(target, 'hookswitch')
  await mkdir(own, { recursive: true })
  await promisify(execFile)('tar', ['-xzf', tarball, '--strip-components=1', '-C', own])
  for (const source of [ROOT, ...names.map((name) => join(folder, name))].map((path) =>
    join(path, 'node_modules'),
  )) {
    const present = await readdir(target)
    for (const entry of await readdir(source)) {
      if (!entry.startsWith('.') && !present.includes(entry))
        await symlink(join(source, entry), join(target, entry))
    }
  }
}

/**
 * The blocks of a page that are programs. Empty lines before them keep their numbers of lines.
 *
 * @param {string} page
 */
function programsOf(page) {
  return blocks(page, 'js')
    .filter((text) => !isQuoted(text))
    .map((text, index) => {
      const whole = read(page)
      const before = whole.slice(0, whole.indexOf(text)).split('\n').length - 1
      const extension = text.includes('@param {') ? 'js' : 'ts'
      const declared = Object.entries(DECLARATIONS).flatMap(([name, line]) =>
        text.includes(name) ? [line] : [],
      )
      return {
        file: `pages/${page}/${index + 1}.${extension}`,
        text: '\n'.repeat(before) + text + declared.join('\n'),
      }
    })
}

/**
 * The messages of the compiler, one a line.
 *
 * @param {string} project folder
 * @returns {Promise<readonly string[]>}
 */
async function compile(project) {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
    cwd: project,
    maxBuffer: 16_777_216,
  })
  const { stdout } = await run.catch((/** @type {{ code?: number, stdout: string }} */ error) => {
    if (error.code === 1 || error.code === 2) return error
    throw error
  })
  return stdout.split('\n').filter((line) => line !== '')
}
