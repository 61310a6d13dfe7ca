// @ts-check
/**
 * Starts a node whose program is one file (`node node-start.cjs PROGRAM ID STORE`), using the V8 code cache that was
 * written when it was started with ID `compile`.
 */
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { createRequire, wrap } = require('node:module')
const { dirname } = require('node:path')
const { Script } = require('node:vm')

const [, , program = '', id] = process.argv
const compiled = `${program}.compiled`
const script = new Script(wrap(readFileSync(program, 'utf8')), {
  filename: program,
  ...(existsSync(compiled) && { cachedData: readFileSync(compiled) }),
})
const own = { exports: {} }
process.argv.splice(1, 1)
script.runInThisContext()(own.exports, createRequire(program), own, program, dirname(program))
if (id === 'compile') {
  const { ready } = /** @type {{ ready: Promise<void> }} */ (own.exports)
  ready.then(() => {
    writeFileSync(compiled, script.createCachedData())
    process.exit()
  })
}
