/** Express 4, installed under an alias. For these tests its types equal those of Express 5. */
declare module 'express4' {
  import express from 'express'
  export default express
}
