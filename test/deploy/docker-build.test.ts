import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { copiedFiles, ROOT, readStages, run } from './files.js'

it('the files that the Dockerfile copies are all that the package is built from', {
  timeout: 120_000,
}, async () => {
  const [build] = readStages('docker/Dockerfile')
  const folder = await mkdtemp(join(ROOT, 'node_modules', '.docker-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const { source, target } of copiedFiles(build!))
    await cp(join(ROOT, source), join(folder, target), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  run(process.execPath, ['node_modules/tsup/dist/cli-default.js', '--silent', '--no-dts'], folder)
  const { files } = JSON.parse(run('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], folder))[0]
  const packed = new Set(files.map(({ path }: { path: string }) => path))
  for (const name of [
    'package.json',
    'README.md',
    'LICENSE',
    'dist/bin.js',
    'dist/index.js',
    'dist/postgres.js',
  ])
    expect([name, packed.has(name)]).toEqual([name, true])
  expect(run(process.execPath, ['dist/bin.js', '--version'], folder)).toMatch(/^\d+\.\d+\.\d+/)
})
