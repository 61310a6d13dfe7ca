/** When npm builds the package: for a program that installs it from git, and not for `npm ci` in a checkout. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { read } from './pages.js'
import { readerEnvironment } from './project.js'

const { files, scripts } = JSON.parse(read('package.json'))
const folder = mkdtempSync(join(tmpdir(), 'hookswitch-git-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The package with its scripts and files, whose build takes no time: it writes one file. */
const REPOSITORY = join(folder, 'repository')
const BUILD = `node --eval "require('node:fs').mkdirSync('dist');require('node:fs').writeFileSync('dist/index.js','')"`
const NAME = { name: 'hookswitch', version: '1.0.0' }

function npm(cwd: string, ...argv: readonly string[]): void {
  const options = ['--no-audit', '--no-fund', '--no-update-notifier', '--offline', '--loglevel=error']
  execFileSync('npm', [...argv, ...options], { cwd, env: readerEnvironment(), stdio: 'pipe' })
}
function git(...argv: readonly string[]): void {
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']
  execFileSync('git', [...author, ...argv], { cwd: REPOSITORY, stdio: 'pipe' })
}

describe('the package in git', () => {
  it('is not built by `npm ci` in a checkout', () => {
    mkdirSync(REPOSITORY)
    const { prepare } = scripts
    const manifest = { ...NAME, files, scripts: { prepare, build: BUILD } }
    writeFileSync(join(REPOSITORY, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(REPOSITORY, '.gitignore'), 'dist/\n')
    const packages = { '': NAME }
    writeFileSync(
      join(REPOSITORY, 'package-lock.json'),
      JSON.stringify({ ...NAME, lockfileVersion: 3, packages }),
    )
    npm(REPOSITORY, 'ci')
    expect(existsSync(join(REPOSITORY, 'dist'))).toBe(false)
  })

  it('is built for a program that installs it, also by `npm ci` of the program', () => {
    git('init', '--quiet')
    git('add', '.')
    git('commit', '--quiet', '--message', 'first')
    const program = join(folder, 'program')
    const built = join(program, 'node_modules/hookswitch/dist/index.js')
    mkdirSync(program)
    writeFileSync(join(program, 'package.json'), '{"private":true}')
    npm(program, 'install', `git+file://${REPOSITORY}`)
    expect(existsSync(built)).toBe(true)
    rmSync(join(program, 'node_modules'), { recursive: true })
    npm(program, 'ci')
    expect(existsSync(built)).toBe(true)
  })

  it('is built once: a build that exists stays', () => {
    npm(REPOSITORY, 'install')
    writeFileSync(join(REPOSITORY, 'dist/index.js'), 'mine')
    npm(REPOSITORY, 'install')
    expect(readFileSync(join(REPOSITORY, 'dist/index.js'), 'utf8')).toBe('mine')
  })
})
