// Made by "npm run generate" from the schemas in the sources. Do not edit.
"use strict";
export const validateWebhook = validate10;
const schema11 = {"type":"object","required":["name","uri","hook"],"properties":{"name":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\u0000\\p{Cs}]*$"},"uri":{"type":"string","maxLength":2048},"hook":{"type":"string","minLength":1,"maxLength":64},"httpVerb":{"type":"string","enum":["get","post","put","patch","delete"]},"retries":{"type":"integer","minimum":0,"maximum":10},"format":{"type":"string","enum":["json","form-data"]},"enabled":{"type":"boolean"},"includeSubaccounts":{"type":"boolean"},"includeInternalLegs":{"type":"boolean"},"customData":{"type":"object","additionalProperties":{"type":"string","pattern":"^[^\\u0000\\p{Cs}]*$"},"patternProperties":{"[\\u0000\\p{Cs}]":false}},"customRequestHeaders":{"type":"object","additionalProperties":{"type":"string","pattern":"^[^\\u0000\\p{Cs}]*$"},"patternProperties":{"[\\u0000\\p{Cs}]":false}},"group":{"type":"string","maxLength":255,"pattern":"^[^\\u0000\\p{Cs}]*$"},"maxAgeSeconds":{"type":"integer","minimum":1,"maximum":2147483647},"ordering":{"type":"string","enum":["call","none"]}}};
const func2 = (text) => {
let length = 0;
for (const _ of text) length++;
return length;
};
const pattern0 = new RegExp("^[^\\u0000\\p{Cs}]*$", "u");
const pattern1 = new RegExp("[\\u0000\\p{Cs}]", "u");

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.name === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "name"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.uri === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "uri"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.hook === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "hook"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 === "string"){
if(func2(data0) > 255){
const err3 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/maxLength",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(func2(data0) < 1){
const err4 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(!pattern0.test(data0)){
const err5 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000\\p{Cs}]*$"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.uri !== undefined){
let data1 = data.uri;
if(typeof data1 === "string"){
if(func2(data1) > 2048){
const err7 = {instancePath:instancePath+"/uri",schemaPath:"#/properties/uri/maxLength",keyword:"maxLength",params:{limit: 2048}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/uri",schemaPath:"#/properties/uri/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.hook !== undefined){
let data2 = data.hook;
if(typeof data2 === "string"){
if(func2(data2) > 64){
const err9 = {instancePath:instancePath+"/hook",schemaPath:"#/properties/hook/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(func2(data2) < 1){
const err10 = {instancePath:instancePath+"/hook",schemaPath:"#/properties/hook/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/hook",schemaPath:"#/properties/hook/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.httpVerb !== undefined){
let data3 = data.httpVerb;
if(typeof data3 !== "string"){
const err12 = {instancePath:instancePath+"/httpVerb",schemaPath:"#/properties/httpVerb/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(!(((((data3 === "get") || (data3 === "post")) || (data3 === "put")) || (data3 === "patch")) || (data3 === "delete"))){
const err13 = {instancePath:instancePath+"/httpVerb",schemaPath:"#/properties/httpVerb/enum",keyword:"enum",params:{allowedValues: schema11.properties.httpVerb.enum}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.retries !== undefined){
let data4 = data.retries;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err14 = {instancePath:instancePath+"/retries",schemaPath:"#/properties/retries/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 10 || isNaN(data4)){
const err15 = {instancePath:instancePath+"/retries",schemaPath:"#/properties/retries/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(data4 < 0 || isNaN(data4)){
const err16 = {instancePath:instancePath+"/retries",schemaPath:"#/properties/retries/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
if(data.format !== undefined){
let data5 = data.format;
if(typeof data5 !== "string"){
const err17 = {instancePath:instancePath+"/format",schemaPath:"#/properties/format/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!((data5 === "json") || (data5 === "form-data"))){
const err18 = {instancePath:instancePath+"/format",schemaPath:"#/properties/format/enum",keyword:"enum",params:{allowedValues: schema11.properties.format.enum}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.enabled !== undefined){
if(typeof data.enabled !== "boolean"){
const err19 = {instancePath:instancePath+"/enabled",schemaPath:"#/properties/enabled/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.includeSubaccounts !== undefined){
if(typeof data.includeSubaccounts !== "boolean"){
const err20 = {instancePath:instancePath+"/includeSubaccounts",schemaPath:"#/properties/includeSubaccounts/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.includeInternalLegs !== undefined){
if(typeof data.includeInternalLegs !== "boolean"){
const err21 = {instancePath:instancePath+"/includeInternalLegs",schemaPath:"#/properties/includeInternalLegs/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.customData !== undefined){
let data9 = data.customData;
if(data9 && typeof data9 == "object" && !Array.isArray(data9)){
for(const key0 in data9){
if(!(pattern1.test(key0))){
let data10 = data9[key0];
if(typeof data10 === "string"){
if(!pattern0.test(data10)){
const err22 = {instancePath:instancePath+"/customData/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/customData/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000\\p{Cs}]*$"}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
else {
const err23 = {instancePath:instancePath+"/customData/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/customData/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
for(const key1 in data9){
if(pattern1.test(key1)){
const err24 = {instancePath:instancePath+"/customData/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/customData/patternProperties/%5B%5Cu0000%5Cp%7BCs%7D%5D/false schema",keyword:"false schema",params:{}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
else {
const err25 = {instancePath:instancePath+"/customData",schemaPath:"#/properties/customData/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data.customRequestHeaders !== undefined){
let data12 = data.customRequestHeaders;
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
for(const key2 in data12){
if(!(pattern1.test(key2))){
let data13 = data12[key2];
if(typeof data13 === "string"){
if(!pattern0.test(data13)){
const err26 = {instancePath:instancePath+"/customRequestHeaders/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/customRequestHeaders/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000\\p{Cs}]*$"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
else {
const err27 = {instancePath:instancePath+"/customRequestHeaders/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/customRequestHeaders/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
for(const key3 in data12){
if(pattern1.test(key3)){
const err28 = {instancePath:instancePath+"/customRequestHeaders/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/customRequestHeaders/patternProperties/%5B%5Cu0000%5Cp%7BCs%7D%5D/false schema",keyword:"false schema",params:{}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
else {
const err29 = {instancePath:instancePath+"/customRequestHeaders",schemaPath:"#/properties/customRequestHeaders/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data.group !== undefined){
let data15 = data.group;
if(typeof data15 === "string"){
if(func2(data15) > 255){
const err30 = {instancePath:instancePath+"/group",schemaPath:"#/properties/group/maxLength",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if(!pattern0.test(data15)){
const err31 = {instancePath:instancePath+"/group",schemaPath:"#/properties/group/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000\\p{Cs}]*$"}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
else {
const err32 = {instancePath:instancePath+"/group",schemaPath:"#/properties/group/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data.maxAgeSeconds !== undefined){
let data16 = data.maxAgeSeconds;
if(!(((typeof data16 == "number") && (!(data16 % 1) && !isNaN(data16))) && (isFinite(data16)))){
const err33 = {instancePath:instancePath+"/maxAgeSeconds",schemaPath:"#/properties/maxAgeSeconds/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
if((typeof data16 == "number") && (isFinite(data16))){
if(data16 > 2147483647 || isNaN(data16)){
const err34 = {instancePath:instancePath+"/maxAgeSeconds",schemaPath:"#/properties/maxAgeSeconds/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
if(data16 < 1 || isNaN(data16)){
const err35 = {instancePath:instancePath+"/maxAgeSeconds",schemaPath:"#/properties/maxAgeSeconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
}
if(data.ordering !== undefined){
let data17 = data.ordering;
if(typeof data17 !== "string"){
const err36 = {instancePath:instancePath+"/ordering",schemaPath:"#/properties/ordering/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
if(!((data17 === "call") || (data17 === "none"))){
const err37 = {instancePath:instancePath+"/ordering",schemaPath:"#/properties/ordering/enum",keyword:"enum",params:{allowedValues: schema11.properties.ordering.enum}};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
}
else {
const err38 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}
