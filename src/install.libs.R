# Where R CMD INSTALL puts what was built: the package's library where R looks for it, the CUDA library, which R must
# not load, into a folder of its own, with what gbt_info() tells of it.
libs <- file.path(R_PACKAGE_DIR, paste0("libs", R_ARCH))
dir.create(libs, recursive = TRUE, showWarnings = FALSE)
file.copy(paste0("gbt", SHLIB_EXT), libs, overwrite = TRUE)
if (file.exists("symbols.rds")) file.copy("symbols.rds", libs, overwrite = TRUE)

gpu <- file.path(R_PACKAGE_DIR, "gpu")
unlink(gpu, recursive = TRUE)
dir.create(gpu, showWarnings = FALSE)
report <- if (file.exists("gbt_cuda.dcf")) readLines("gbt_cuda.dcf") else c("Kind: none", "Why: configure was not run")
if (file.exists("gbt_cuda.failed")) {
  why <- readLines("gbt_cuda.failed")[1L]
  message("gbt: ", why, "; gbt is installed for the CPU only")
  report <- c("Kind: none", paste0("Why: ", why, " when gbt was installed"),
              grep("^(Toolkit|Nvcc):", report, value = TRUE))
} else if (file.exists("gbt_cuda.so")) {
  file.copy("gbt_cuda.so", gpu, overwrite = TRUE)
}
writeLines(report, file.path(gpu, "build.dcf"))
