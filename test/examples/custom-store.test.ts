// Under vitest the example registers its suite with vitest.
import '../../examples/06-custom-store.js'
