// The example registers its suite with vitest when it runs under vitest.
import '../../examples/06-a-store-of-your-own.js'
